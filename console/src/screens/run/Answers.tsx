/** Responses of the models in each step, with the winner and the reasons. */
import { useSignal } from '@preact/signals';
import { runs as text } from '../../../text/runs.ts';
import { Avatar } from '../../../ui/Avatar.tsx';
import { withLocalTimes } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { Section } from '../../parts/Notice.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import type { RunResponse, Step } from './response.ts';
import { winnerOf } from './winner.ts';

export function Answers({ answer }: { readonly answer: RunResponse }) {
  const steps = answer.steps.filter(
    (step) => step.results.length > 0 || step.explanation !== undefined || step.taskId !== undefined,
  );
  if (steps.length === 0) return null;
  const winner = winnerOf(answer)?.agent;
  return (
    <Section title={text.answers}>
      <ul class="card rows">
        {steps.map((step) => (
          <StepAnswers key={`${step.name} ${step.iteration}`} step={step} winner={winner} />
        ))}
      </ul>
    </Section>
  );
}

interface StepAnswersProps {
  readonly step: Step;
  readonly winner: string | undefined;
}

function StepAnswers({ step, winner }: StepAnswersProps) {
  return (
    <>
      <li class="row group">
        <State of={step.status} words={step.name} />
        {step.iteration > 1 && <span class="faint">{`${text.round} ${step.iteration}`}</span>}
        {step.taskId !== undefined && <TaskTitle id={step.taskId} limit={60} />}
      </li>
      {(step.explanation !== undefined || step.error !== undefined) && (
        <li class="row soft">
          <UserText text={step.explanation ?? withLocalTimes(step.error ?? '')} />
        </li>
      )}
      {step.results.map((result, index) => (
        <AnswerRow
          key={`${index} ${result.agent}`}
          result={result}
          isWinner={step.results.length > 1 && result.agent === winner}
        />
      ))}
    </>
  );
}

interface AnswerRowProps {
  readonly result: Step['results'][number];
  readonly isWinner: boolean;
}

function AnswerRow({ result: { agent, output, error }, isWinner }: AnswerRowProps) {
  const isOpen = useSignal(false);
  return (
    <li class="row top-line">
      <Avatar name={agent} id={agent} large />
      <div class="grow">
        <p class="line">
          <b>
            <UserText text={agent} limit={60} />
          </b>
          {isWinner && (
            <span class="tag good">
              <Icon of="trophy" small />
              {text.winner}
            </span>
          )}
        </p>
        {error !== undefined && (
          <p class="bad">
            <UserText text={error} limit={300} />
          </p>
        )}
        {isOpen.value && output !== undefined && (
          <div class="block">
            <UserText text={output} links />
          </div>
        )}
      </div>
      {output !== undefined && (
        <button
          type="button"
          class="b small"
          aria-expanded={isOpen.value}
          onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? text.hideAnswer : text.readAnswer}
        </button>
      )}
    </li>
  );
}
