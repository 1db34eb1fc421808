/* What a GPU of CUDA's copies of others' memory, a few boxes at once (cuda_peer.c): between two kernels a third one takes
   less time than a copy engine, which has to be woken and waited for. */
struct lw_pulls {
  unsigned long long to[8], from[8], pitch[8]; /* bytes from one row to the next, here and there */
  unsigned rows[8], units[8], bytes[8];        /* units of a row, and bytes of a unit: 16, 8 or 4 */
};

template <typename unit>
static __device__ void lw_pulled(const lw_pulls &pulls, unsigned box) {
  const unsigned units = pulls.units[box], all = pulls.rows[box] * units, step = gridDim.x * blockDim.x;
#pragma unroll 4
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < all; k += step) {
    const unsigned row = k / units;
    const unsigned long long at = row * pulls.pitch[box] + (k - row * units) * sizeof(unit);
    /* another GPU has written it: no cache knows better */
    *(unit *)(pulls.to[box] + at) = __ldcv((const unit *)(pulls.from[box] + at));
  }
}

extern "C" __global__ void __launch_bounds__(256) lw_pull(const __grid_constant__ lw_pulls pulls) {
  const unsigned box = blockIdx.y;
  if (pulls.bytes[box] == 16) lw_pulled<uint4>(pulls, box);
  else if (pulls.bytes[box] == 8) lw_pulled<uint2>(pulls, box);
  else lw_pulled<unsigned>(pulls, box);
}
