from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from ray.data.block import BlockMetadata

class ExecutionOptions:
    preserve_order: bool

class DataContext:
    enable_progress_bars: bool
    execution_options: ExecutionOptions
    target_max_block_size: int
    @staticmethod
    def get_current() -> DataContext: ...

class ActorPoolStrategy:
    def __init__(self, *, size: int) -> None: ...

class ReadTask:
    def __init__(
        self, read_fn: Callable[[], Iterable[pa.Table]], metadata: BlockMetadata
    ) -> None: ...

class Datasource: ...

class Dataset:
    def map_batches(self, fn: type, **settings: Any) -> Dataset: ...
    def iter_batches(self, *, batch_format: str, batch_size: int | None) -> Iterator[pa.Table]: ...

def read_datasource(datasource: Datasource, *, override_num_blocks: int) -> Dataset: ...
