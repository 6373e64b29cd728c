/** What the SDK says where a listening is ended, whose error has no code of its own. */
const ENDED = /^Error (\d+): /;

/** gRPC's code of a failed call. Source: https://grpc.io/docs/guides/status-codes */
export function statusCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'number') return error.code;
  const [, code] = ENDED.exec(error.message) ?? [];
  return code === undefined ? undefined : Number(code);
}
