"""D-retrieval tasks (DEF-D): the data type, the library of tasks, and files. One import for everything about tasks.

`constructions.retrieval_task` has the types, `constructions.task_library` the built-in tasks, `constructions.task_file`
the reader of TOML and JSON (docs/tasks.md).
"""

from constructions.retrieval_task import (
    MAX_SEQ_LEN,
    MAX_TARGETS,
    MAX_TOKEN_DIM,
    Feature,
    RetrievalTask,
    everywhere,
)
from constructions.task_file import FORMAT, MAX_FILE_BYTES, load_task, task_from_json, task_from_table, task_to_json
from constructions.task_library import (
    LAYOUTS,
    built_in,
    hard_gate,
    order_statistics,
    quadratic,
    sign_directions,
    synthetic,
    toy,
)

__all__ = [
    "FORMAT",
    "LAYOUTS",
    "MAX_FILE_BYTES",
    "MAX_SEQ_LEN",
    "MAX_TARGETS",
    "MAX_TOKEN_DIM",
    "Feature",
    "RetrievalTask",
    "built_in",
    "everywhere",
    "hard_gate",
    "load_task",
    "order_statistics",
    "quadratic",
    "sign_directions",
    "synthetic",
    "task_from_json",
    "task_from_table",
    "task_to_json",
    "toy",
]
