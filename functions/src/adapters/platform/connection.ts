/** What befell a connection, by the codes that Node.js and its `fetch` give. */

/** The connection was never made, so that nothing was sent. */
const UNSENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_INVALID_URL|.*CERT.*)$/;

/** Whether nothing was sent, for certain. */
export function isUnsent(error: unknown): boolean {
  return connectionCodes(error).some((code) => UNSENT.test(code));
}

/** The error's codes and those of its causes, the outermost first. */
export function connectionCodes(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let one = error; one instanceof Error && codes.length < 10; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') codes.push(one.code);
    if (one instanceof AggregateError) codes.push(...one.errors.flatMap(connectionCodes));
  }
  return codes;
}
