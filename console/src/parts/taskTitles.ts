/** Titles of several tasks by their ids, for drawings, whose texts must be known before they are drawn. */
import { taskDocument } from '../live/documents.ts';
import { useAllLive } from '../live/live.ts';
import { task as taskQuery } from '../live/queries.ts';
import { document } from '../live/sources.ts';
import { titleOf } from './taskState.ts';

/** Maximum number of tasks to which a drawing listens. */
const MAX_TITLES = 100;

/** @returns titles of the tasks that are already known */
export function useTaskTitles(ids: readonly string[]): ReadonlyMap<string, string> {
  const asked = [...new Set(ids)].slice(0, MAX_TITLES);
  const lives = useAllLive(asked.map((id) => document(taskQuery(id), taskDocument)));
  const titles = new Map<string, string>();
  for (const [index, id] of asked.entries()) {
    const live = lives[index];
    if (live !== undefined && 'value' in live && live.value !== undefined) titles.set(id, titleOf(live.value));
  }
  return titles;
}
