/* What a GPU of CUDA's copies of others' memory, a few pieces at once (cuda_peer.c): between two kernels a third one takes
   less time than a copy engine, which has to be woken and waited for. */
struct lw_pulls {
  unsigned long long to[8], from[8], units[8]; /* of 16 bytes */
};

extern "C" __global__ void __launch_bounds__(256) lw_pull(lw_pulls pulls) {
  const uint4 *from = (const uint4 *)pulls.from[blockIdx.y];
  uint4 *to = (uint4 *)pulls.to[blockIdx.y];
  const unsigned long long units = pulls.units[blockIdx.y], step = (unsigned long long)gridDim.x * blockDim.x;
#pragma unroll 4
  for (unsigned long long k = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; k < units; k += step)
    to[k] = __ldcv(from + k); /* another GPU has written it: no cache knows better */
}
