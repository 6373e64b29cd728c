/** Sample responses about results that are being verified. */
import { REPORT, STATUS } from '../../support/sampleResponses.ts';

const until = '2026-11-25T10:00:00.000Z';
const waits = `Waits for another agent to review it (any), at most until ${until}.`;

const verifying = {
  count: 3,
  tasks: [
    { id: 'task-5', step: 'review', waits },
    { id: 'task-6', step: 'person', waits: 'Waits for Ada to confirm it.' },
  ],
};

/** Status of a goal of which three results are being verified. */
export const VERIFYING_STATUS = { ...STATUS, tasks: { ...STATUS.tasks, in_progress: 4 }, total_tasks: 17, verifying };

const { error: _, failure: __, ...task } = REPORT.result.task;

/** Report about a coding task whose second result another agent reviews. */
export const VERIFYING_REPORT = {
  ...REPORT,
  result: {
    ...REPORT.result,
    task: {
      ...task,
      status: 'in_progress',
      state: 'waiting',
      acceptance: { command: 'npm test', review: 'any' },
      verifying: { step: 'review', round: 2, of_rounds: 3, since: until, until, check: 'task-9', waits },
      sent_back: [{ round: 1, at: until, by: 'ann', step: 'review', comments: 'The logout is missing.', times: 1 }],
    },
  },
};
