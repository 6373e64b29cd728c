/**
 * `node yearProgram.ts <JSON>`: simulates a period one day at a time. At noon, a simulated person completes to-dos
 * that are due. The simulated clock is a file like the one that `npm run clock` writes for the emulators.
 */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { compose } from '../../../functions/src/composition/compose.ts';
import { simulatedClock } from '../../../functions/src/kernel/platform.ts';
import { FREQUENCIES } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { unkeyed } from '../coordination/team.ts';

const DAY = 86_400_000;

const life = z.object({
  ownerUid: z.string(),
  clockFile: z.string(),
  begin: z.coerce.date(),
  days: z.int(),
  tasks: z.array(
    z.object({ title: z.string(), frequency: z.enum(FREQUENCIES), start_date: z.coerce.date(), timezone: z.string() }),
  ),
});

const { ownerUid, clockFile, begin, days, tasks } = life.parse(JSON.parse(String(process.argv[2])));
const clock = simulatedClock(clockFile);
const { services } = compose(externalServicesOf({ clock }));

function moveTo(day: number): void {
  writeFileSync(clockFile, String(begin.getTime() + day * DAY - Date.now()));
}

async function completeWhatIsDue(): Promise<void> {
  const due = { owner_uid: ownerUid, tags: [], completed: false, dueBefore: clock.now() };
  const { todos } = await services.todos.list(due, { by: 'due_date', order: 'asc' }, { limit: 100 });
  await Promise.all(todos.map(({ id }) => services.todos.complete(ownerUid, id, unkeyed)));
}

moveTo(0);
for (const { title, ...rule } of tasks) await services.recurringTasks.create(ownerUid, { title, ...rule }, unkeyed);
for (let day = 1; day <= days; day++) {
  moveTo(day);
  await services.sendReminders();
  await completeWhatIsDue();
}
process.exit(0);
