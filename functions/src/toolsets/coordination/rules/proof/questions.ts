/** Questions to people about the result of a task. The inbox stores them. Source: docs/guides/proof.md. */
import { titleOf } from '../../../../graph/rules/graphNode.ts';
import { shortened } from '../../../../kernel/text.ts';
import type { Task } from '../task.ts';

export const APPROVE = 'approve';
export const REQUEST_CHANGES = 'request changes';
export const GIVE_UP = 'give up';

/** Time in which the person can answer, in days. Afterwards the task fails. */
export const ANSWER_DAYS = 7;

const MAX_SHOWN = 2000;

export interface ResultQuestion {
  readonly id: string;
  readonly workspace: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly proves: { readonly task_id: string; readonly round: number; readonly not_by: readonly string[] };
  readonly asked_of: string;
  readonly asked_of_name: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export interface QuestionChanges {
  readonly askAboutResult: { readonly question: ResultQuestion };
  /** Withdraws an open question, because its task needs no answer. The commit also changes the task at a version. */
  readonly withdrawQuestion: {
    readonly id: string;
    readonly workspace: string;
    /** Id of the task. */
    readonly about: string;
    readonly at: Date;
  };
}

/** Returns the text of the question. Texts of agents are quoted, because they are data. */
export function questionText({ id, description, result, sent_back, rounds }: Task): string {
  const last = sent_back.at(-1);
  const why =
    rounds === 0 || last === undefined
      ? ''
      : ` It was sent back ${rounds === 1 ? 'once' : `${rounds} times`}. Last, by ${last.by}: "${cut(last.comments)}"`;
  return `Is the task "${titleOf(description)}" (${id}) done? Its result: "${cut(result?.output ?? '')}"${why}`;
}

const cut = (text: string) => shortened(text, MAX_SHOWN);
