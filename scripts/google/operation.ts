/** Google's long-running operations. Source: https://google.aip.dev/151 */
import { z } from 'zod';
import type { Api } from './apis.ts';
import type { Google } from './client.ts';
import { type Failure, failureOf, type Result } from './failure.ts';

const POLL_MS = 2000;
const MAX_MS = 15 * 60_000;

export const operation = z.object({
  name: z.string().default(''),
  done: z.boolean().default(false),
  error: z.object({ code: z.number().default(0), message: z.string().default('') }).optional(),
  response: z.unknown().optional(),
});

/**
 * Waits until an operation has ended and returns its result.
 * @param started response to the request that started it
 * @param version API version, which the operation's name does not contain
 */
export async function ended(
  google: Google,
  api: Api,
  version: string,
  started: Result<z.output<typeof operation>>,
): Promise<Result<unknown>> {
  let answer = started;
  for (let waited = 0; answer.ok && !answer.value.done; waited += POLL_MS) {
    if (waited >= MAX_MS)
      return failed({ status: 504, message: `${answer.value.name} has not ended after 15 minutes` });
    await google.pause(POLL_MS);
    answer = await google.get({ api, path: `${version}/${answer.value.name}`, schema: operation });
  }
  if (!answer.ok) return answer;
  const { error, response } = answer.value;
  return error === undefined
    ? { ok: true, value: response }
    : failed(failureOf(409, JSON.stringify({ error: { message: error.message } })));
}

function failed(failure: Failure): Result<never> {
  return { ok: false, failure };
}
