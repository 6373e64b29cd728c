/** Changed fields of an item, in words. */
import { Fragment } from 'preact';
import { audit as text } from '../../../text/audit.ts';
import { kinds, roles } from '../../../text/common.ts';
import { exactMoment } from '../../../ui/format.ts';
import { State, stateName } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { Name } from '../../parts/Who.tsx';
import type { Change as Changed } from './events.ts';
import { fieldName, isShownField } from './sentence.ts';

export function Change({ change: { kind, id, before, after, shortened } }: { readonly change: Changed }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(isShownField);
  return (
    <dl class="change" aria-label={`${kinds[kind]?.[0] ?? kind} ${id}`}>
      {names.map((name) => (
        <Fragment key={name}>
          <dt>
            <UserText text={fieldName(name)} />
          </dt>
          <dd>
            {before !== undefined && (
              <del>
                <Value name={name} of={before[name]} />
              </del>
            )}
            {before !== undefined && after !== undefined && ' → '}
            {after !== undefined && (
              <ins>
                <Value name={name} of={after[name]} />
              </ins>
            )}
          </dd>
        </Fragment>
      ))}
      {shortened === true && <dd class="soft">{text.shortened}</dd>}
    </dl>
  );
}

const PEOPLE = ['claimed_by', 'created_by', 'owner_uid', 'asked_of', 'asked_by', 'answered_by'];
const TASKS = ['delegated_task_id', 'task_id', 'stuck_by', 'files_wait'];
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

function Value({ name, of }: { readonly name: string; readonly of: unknown }) {
  if (of === undefined || of === null) return <>{text.none}</>;
  if (typeof of !== 'string') return <UserText text={JSON.stringify(of)} limit={500} />;
  if (PEOPLE.includes(name)) return <Name id={of} />;
  if (TASKS.includes(name)) return <TaskTitle id={of} otherwise={<UserText text={of} />} />;
  if (name === 'status') return stateName(of) === of ? <UserText text={of} /> : <State of={of} />;
  if (name === 'role') return <>{roles[of] ?? of}</>;
  if (INSTANT.test(of) && !Number.isNaN(Date.parse(of))) return <>{exactMoment(new Date(of))}</>;
  return <UserText text={of} limit={500} />;
}
