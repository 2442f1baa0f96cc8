"""torch's own tests of collectives and DDP that need no GPU, by name."""

import os
import tempfile

import pytest
import torch
import torch.distributed as dist
from groups import group

# Left out: receives from any source, which torch does not forward to backends in Python, sparse
# tensors, and TORCH_DISTRIBUTED_DEBUG=DETAIL (see `test_debugging_in_detail_is_refused`).
NAMES = """
    DistributedDataParallelCPU
    DistributedDataParallelCPU_grad_is_view
    DistributedDataParallel_requires_grad
    all_gather
    all_gather_coalesced_complex
    all_gather_coalesced_simple
    all_gather_coalesced_with_empty
    all_gather_complex
    all_gather_full_group
    all_gather_object_default_pg
    all_reduce_coalesced_max_complex_unsupported
    all_reduce_coalesced_sum
    all_reduce_complex_unsupported_ops
    all_reduce_full_group_sum
    all_reduce_max
    all_reduce_product
    all_reduce_sum
    all_reduce_sum_async
    all_reduce_sum_complex
    all_to_all
    all_to_all_complex
    all_to_all_full_group
    all_to_all_single_equal_split
    all_to_all_single_equal_split_complex
    all_to_all_single_unequal_split
    all_to_all_single_unequal_split_complex
    barrier
    barrier_full_group
    batch_isend_irecv_op_list_err
    broadcast
    broadcast_full_group
    destroy_full_group
    destroy_group
    gather
    gather_checks
    gather_object
    get_future
    get_rank_size_full_group
    get_rank_size_group
    grads_same_across_ranks_with_no_sync
    irecv
    isend
    isend_autograd_profiler
    isend_torch_profiler
    reduce_max
    reduce_product
    reduce_sum
    reduce_sum_twice
    scatter
    scatter_checks
    scatter_complex
    scatter_object_list
    send_recv
    send_recv_with_tag
    static_graph_api_cpu
""".split()


def runs(rank, ranks, root, name, folder):
    # The module reads these when it is imported.
    os.environ.update(BACKEND="optireduce", WORLD_SIZE=str(ranks), TEMP_DIR=folder)
    from torch.testing._internal.distributed import distributed_test

    class Cases(distributed_test.DistributedTest._DistTestBase, distributed_test.TestDistBackend):
        def runTest(self):
            getattr(self, f"test_{name}")()

        def _barrier(self, *_, **__):
            dist.barrier()

    torch.manual_seed(1)
    try:
        with group(rank, ranks, root):
            case = Cases("runTest")
            case.rank, case.file_name = rank, os.path.join(folder, "file")
            case.runTest()
    finally:
        # Some cases change the level.
        os.environ.pop("TORCH_DISTRIBUTED_DEBUG", None)
        dist.set_debug_level(dist.DebugLevel.OFF)


@pytest.mark.parametrize("name", NAMES)
def test_torchs_own(job, name):
    with tempfile.TemporaryDirectory() as folder:
        job.run(3, runs, name, folder)
