"""The table of communication kernels against names that real profiles hold."""

from __future__ import annotations

import pytest

from commcanary.timeline.communication_kernels import CommunicationKernels, KernelRule

FAMILIES = [
    ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "nccl"),
    ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "nccl"),
    ("ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)", "nccl"),
    ("multimem_all_reduce_kernel<c10::BFloat16, 16>(...)", "symmetric_memory"),
    ("void vllm::cross_device_reduce_2stage<half, 8>(...)", "custom_all_reduce"),
    ("void aiter::cross_device_reduce_1stage_naive(...)", "custom_all_reduce"),
    ("nvshmemi_transfer_rma", "nvshmem"),
    ("void userbuffers_fp16_sum_inplace_gpu_rw", "userbuffers"),
    ("hcclAllReduce", "hccl"),
    ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", None),
    ("void at::native::reduce_kernel<512, 1>(...)", None),
    ("void at::native::vectorized_gather_kernel<16, long>(...)", None),
    ("void at::native::(anonymous namespace)::cunn_SoftMaxForward", None),
]


@pytest.mark.parametrize(("name", "family"), FAMILIES)
def test_table_of_communication_kernels(name: str, family: str | None) -> None:
    assert CommunicationKernels().family(name) == family


def test_own_rules_come_first() -> None:
    table = CommunicationKernels((KernelRule("mine", "^nccl.*SendRecv"), KernelRule("spyre", "^spyre_")))
    assert table.family("ncclDevKernel_SendRecv(x)") == "mine"
    assert table.family("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)") == "nccl"
    assert table.family("spyre_sum") == "spyre"
