/** Histogram of latencies. The buckets of all instances can be added up, unlike percentiles. */

/** Buckets with their upper ends, in milliseconds. The last bucket has no end. */
export const BUCKETS = [
  { key: 'b0', end: 50 },
  { key: 'b1', end: 100 },
  { key: 'b2', end: 200 },
  { key: 'b3', end: 400 },
  { key: 'b4', end: 800 },
  { key: 'b5', end: 1600 },
  { key: 'b6', end: 3200 },
  { key: 'b7', end: 6400 },
  { key: 'b8', end: 12_800 },
  { key: 'b9', end: Number.POSITIVE_INFINITY },
] as const;
