/** What only the emulators offer: starting a schedule, and reading the databases behind the endpoint's back. */
import { z } from 'zod';
import { FUNCTIONS_URL } from './endpoint.ts';
import { eventually } from './waiting.ts';

const backends = z.object({
  backends: z.array(
    z.object({ functionTriggers: z.array(z.object({ id: z.string(), schedule: z.unknown().optional() })) }),
  ),
});

/** Runs a schedule to its end, as Cloud Scheduler does each minute in production. */
export async function tick(name: string): Promise<void> {
  const answer = backends.parse(await (await fetch(`${FUNCTIONS_URL}/backends`)).json());
  const triggers = answer.backends.flatMap((backend) => backend.functionTriggers);
  const found = triggers.find(({ id, schedule }) => schedule !== undefined && id.endsWith(`-${name}`));
  if (found === undefined) throw new Error(`The emulator has no scheduled function named ${name}.`);
  const url = `${FUNCTIONS_URL}/functions/projects/${process.env['GCLOUD_PROJECT']}/triggers/${found.id}-0`;
  const { status } = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(60_000) });
  if (status >= 400) throw new Error(`${name} answered ${status}.`);
}

/** Sweeps until there is something to see. */
export function sweepUntil<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  return eventually(what, async () => {
    const seen = await look();
    if (seen === undefined) await tick('sweep');
    return seen;
  });
}
