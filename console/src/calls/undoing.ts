/** Undoes the last change of an item, for the offer in a toast. */
import { z } from 'zod/mini';
import { act, callTool } from './tools.ts';

const events = z.object({
  events: z.array(z.object({ event_id: z.string(), undone_by: z.exactOptional(z.string()) })),
});
const outcome = z.object({
  undone: z.array(z.object({ id: z.string() })),
  refused: z.array(z.object({ why: z.string() })),
});

/** @param thing kind and id: `todo:abc` @throws Error with the reason if the change could not be undone */
export async function undoLatest(thing: string): Promise<void> {
  const { events: found } = await callTool('system.getAudit', { thing, limit: 1 }, events);
  const [latest] = found;
  if (latest === undefined) return;
  const { undone, refused } = await act('system.undo', { event_id: latest.event_id }, outcome);
  if (undone.length === 0) throw new Error(refused[0]?.why ?? '');
}
