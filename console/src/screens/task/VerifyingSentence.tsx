/** A sentence about the check for which a task that is being verified waits. */
import { proof as text } from '../../../text/proof.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { duration } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { now } from '../../live/time.ts';
import { QuestionLink, useIsAsked } from '../../parts/QuestionLink.tsx';
import type { Verifying } from '../../parts/taskState.ts';

export function VerifyingSentence({ task }: { readonly task: Verifying }) {
  const { proof, acceptance, waiting_for: asked } = task;
  const until = asked?.until ?? task.proof_until;
  const words = (WAITS[proof.step] ?? text.waits)[until === null ? 0 : 1];
  const command = (
    <code>
      <UserText text={acceptance?.command ?? ''} limit={120} />
    </code>
  );
  const time = duration(Math.max(0, (until?.getTime() ?? 0) - now.value));
  const name = <UserText text={asked?.who ?? text.aPerson} limit={60} />;
  const link = asked && <QuestionLink id={asked.request_id} words={text.decide} />;
  const isOwn = useIsAsked(asked?.request_id);
  return (
    <span>
      <Fill text={isOwn ? text.waitsForYou : words} with={{ command, time, name, link }} />
    </span>
  );
}

/** Sentences by step: without a time, and with the time that is left. */
const WAITS: Readonly<Record<string, readonly [always: string, timed: string]>> = {
  command: text.waitsForCommand,
  review: text.waitsForReview,
  person: text.waitsForPerson,
};
