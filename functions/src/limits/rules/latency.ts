/** Histogram of latencies. The buckets of all instances can be added up, unlike percentiles. */

/** Upper ends of the buckets, in milliseconds. The last bucket has no end. */
export const BUCKET_ENDS = [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800] as const;

/** Returns the bucket of a latency: `b0` to `b9`. */
export function bucketOf(milliseconds: number): string {
  const index = BUCKET_ENDS.findIndex((end) => milliseconds < end);
  return bucketKey(index < 0 ? BUCKET_ENDS.length : index);
}

export const bucketKey = (index: number): string => `b${index}`;
