/** Decision about the result of a task: the result, the last correction, and the three answers. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { verdict as text } from '../../../text/proof.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { type Request, type Task, taskDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { task as taskQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { Shown } from '../../parts/Notice.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { CorrectionRow } from '../task/Proof.tsx';

interface VerdictProps {
  readonly request: Request;
  readonly taskId: string;
}

export function Verdict({ request, taskId }: VerdictProps) {
  const live = useLive(document(taskQuery(taskId), taskDocument));
  const comment = useSignal('');
  const words = comment.value.trim();
  const say = (answer: string) => () =>
    act('inbox.answer', { request_id: request.id, answer, ...(words !== '' && { comment: words }) }, z.object({}));
  return (
    <div class="stack">
      <Shown live={live} what={text.result.toLowerCase()}>
        {(task) => task !== undefined && <Result task={task} />}
      </Shown>
      <TextField label={text.comment} hint={text.commentHint} of={comment} isLong />
      <p class="acts">
        <ActionButton kind="primary" label={text.approve} act={say('approve')} />
        <ActionButton label={text.requestChanges} disabled={words === ''} act={say('request changes')} />
        <ActionButton
          kind="quiet"
          label={text.giveUp}
          confirm={{ title: text.giveUpTitle, text: text.giveUpHint, keep: text.keep, isDangerous: true }}
          act={say('give up')}
        />
      </p>
    </div>
  );
}

function Result({ task: { result, coding, sent_back: corrections } }: { readonly task: Task }) {
  const last = corrections.at(-1);
  const summary = result?.output ?? coding?.progress ?? '';
  return (
    <ul class="card rows">
      <li class="row">
        <div class="grow">
          <p class="label">{text.result}</p>
          <p class="lines">{summary === '' ? text.noSummary : <UserText text={summary} links limit={2000} />}</p>
        </div>
      </li>
      {last !== undefined && <CorrectionRow of={last} />}
    </ul>
  );
}
