/** One task: its state in a sentence, its result or log, attempts and thread; its properties at the side. */
import { shell } from '../../../text/shell.ts';
import { task as text } from '../../../text/task.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { Icon } from '../../../ui/Icon.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type Task, taskDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { task as taskQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { now } from '../../live/time.ts';
import { Section } from '../../parts/Notice.tsx';
import { DetailPage } from '../../parts/Page.tsx';
import { agoText } from '../../parts/Time.tsx';
import { stateOf, titleOf } from '../../parts/taskState.ts';
import { Name } from '../../parts/Who.tsx';
import { Attempts } from './Attempts.tsx';
import { CodingResult } from './CodingResult.tsx';
import { Log } from './Log.tsx';
import { Proof } from './Proof.tsx';
import { Properties } from './Properties.tsx';
import { Sentence } from './Sentence.tsx';
import { TaskActions } from './TaskActions.tsx';
import { Thread } from './Thread.tsx';

export function TaskPage({ id }: { readonly id: string }) {
  const live = useLive(document(taskQuery(id), taskDocument));
  return (
    <DetailPage
      list={['tasks', shell.tasks]}
      kind={text.kind}
      live={live}
      titleOf={titleOf}
      actions={(task) => <TaskActions task={task} />}>
      {(task) => <Whole task={task} />}
    </DetailPage>
  );
}

function Whole({ task }: { readonly task: Task }) {
  const rest = task.description.split('\n').slice(1).join('\n').trim();
  const isCode = task.coding !== null;
  const hasResult = isCode && task.coding?.result !== null;
  return (
    <div class="split">
      <div>
        <div class="intro">
          <h1>
            <UserText text={titleOf(task)} />
          </h1>
          <p class="sentence">
            <State of={stateOf(task)} pill />
            <span>
              <Sentence task={task} />
            </span>
          </p>
          {rest !== '' && (
            <p class="prose lines">
              <UserText text={rest} links />
            </p>
          )}
          {task.coding !== null && <Instructions text={task.coding.instructions} />}
          {task.context.hints !== undefined && <Instructions text={task.context.hints} />}
        </div>
        <Proof task={task} />
        <Result task={task} />
        {hasResult && <CodingResult task={task} />}
        {isCode && <Log task={task} />}
        <Thread task={task} />
        <Attempts task={task} />
      </div>
      <Properties task={task} />
    </div>
  );
}

/** Long instructions are folded. */
const SHOWN_LETTERS = 400;

function Instructions({ text: words }: { readonly text: string }) {
  if (words.length <= SHOWN_LETTERS) {
    return (
      <p class="prose lines">
        <UserText text={words} links />
      </p>
    );
  }
  return (
    <details class="prose">
      <summary class="b quiet small">
        <Icon of="file" small />
        {text.instructions}
      </summary>
      <p class="lines">
        <UserText text={words} links />
      </p>
    </details>
  );
}

function Result({ task }: { readonly task: Task }) {
  const { result, late_result: late } = task;
  if (result === null && late === null) return null;
  const files = [...new Set([...(result?.files_created ?? []), ...(result?.files_modified ?? [])])];
  return (
    <Section title={text.result} isCard>
      {result !== null && (
        <div class="row">
          <p class="lines">
            <UserText text={result.output} links />
          </p>
        </div>
      )}
      {files.length > 0 && (
        <ul class="rows">
          {files.map((file) => (
            <li key={file} class="row">
              <Icon of="file" />
              <code>
                <UserText text={file} />
              </code>
            </li>
          ))}
        </ul>
      )}
      {late !== null && (
        <div class="row">
          <div class="grow">
            <p class="soft">
              <Fill
                text={text.late}
                with={{ agent: <Name id={late.agent_id} />, when: agoText(late.received_at, now.value) }}
              />
            </p>
            <p class="lines">
              <UserText text={late.result?.output ?? late.error ?? ''} />
            </p>
          </div>
        </div>
      )}
    </Section>
  );
}
