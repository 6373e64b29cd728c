/**
 * List prices in US dollars, for us-central1 and single-region Firestore, without discounts. Check current prices
 * before deciding: https://cloud.google.com/firestore/pricing, https://cloud.google.com/run/pricing,
 * https://firebase.google.com/pricing, https://cloud.google.com/stackdriver/pricing. As of 2026-11.
 */
export const PRICES = {
  firestore: { read: 0.03 / 100_000, write: 0.09 / 100_000, delete: 0.01 / 100_000 },
  run: { vcpuSecond: 0.000024, gibSecond: 0.0000025, request: 0.4 / 1_000_000 },
  realtimeGib: 1,
  loggingGib: 0.5,
  egressGib: 0.12,
  /** Monthly price of the two schedules and the secrets. */
  fixedMonthly: 1,
} as const;

/** Monthly free quota. */
export const FREE = {
  firestore: { read: 50_000 * 30, write: 20_000 * 30, delete: 20_000 * 30 },
  run: { vcpuSecond: 180_000, gibSecond: 360_000, request: 2_000_000 },
  realtimeGib: 10,
  loggingGib: 50,
  egressGib: 1,
} as const;
