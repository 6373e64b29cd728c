/** Runs scheduled functions of the emulator, and delivers events to its functions. */
import { z } from 'zod';
import { type CloudEvent, deliver } from './delivery/cloudEvents.ts';
import { FUNCTIONS_URL } from './endpoint.ts';
import { eventually } from './waiting.ts';

export const PROJECT = String(process.env['GCLOUD_PROJECT']);
const TRIGGERS_URL = `${FUNCTIONS_URL}/functions/projects/${PROJECT}/triggers`;

/** Timeout for a scheduled function, which may have to start while the machine is busy. */
const SCHEDULE_PATIENCE_MS = 240_000;

const backends = z.object({
  backends: z.array(
    z.object({ functionTriggers: z.array(z.object({ id: z.string(), schedule: z.unknown().optional() })) }),
  ),
});

/** Runs a scheduled function to its end, as Cloud Scheduler does every minute in production. */
export async function tick(name: string): Promise<void> {
  const answer = backends.parse(await (await fetch(`${FUNCTIONS_URL}/backends`)).json());
  const triggers = answer.backends.flatMap((backend) => backend.functionTriggers);
  const found = triggers.find(({ id, schedule }) => schedule !== undefined && id.endsWith(`-${name}`));
  if (found === undefined) throw new Error(`The emulator has no scheduled function named ${name}.`);
  const signal = AbortSignal.timeout(SCHEDULE_PATIENCE_MS);
  const { status } = await fetch(`${TRIGGERS_URL}/${found.id}-0`, { method: 'POST', signal });
  if (status >= 400) throw new Error(`${name} responded with status ${status}.`);
}

/** Delivers an event to a function, in addition to the events that the emulator itself delivers. */
export async function deliverToTrigger(name: string, event: CloudEvent): Promise<void> {
  const isTaken = await deliver(`${TRIGGERS_URL}/us-central1-${name}-0`, event);
  if (!isTaken) throw new Error(`${name} did not accept the event for ${event['subject']}.`);
}

/** Runs the cleanup job (the sweep) repeatedly until `look` returns a value. */
export function sweepUntil<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  return eventually(what, async () => {
    const seen = await look();
    if (seen === undefined) await tick('sweep');
    return seen;
  });
}
