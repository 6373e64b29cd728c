/** Decisions of the person, with their outcomes. The list is loaded when it is opened. */
import { useSignal } from '@preact/signals';
import { needsYou as text } from '../../../text/needsYou.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type Request, requestDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { answeredRequests } from '../../live/queries.ts';
import { MoreOf } from '../../parts/More.tsx';
import { Shown } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { Name } from '../../parts/Who.tsx';
import { Decided } from './Decided.tsx';

interface HistoryProps {
  readonly uid: string;
  readonly here: string;
}

export function History(props: HistoryProps) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary class="b quiet small">
        <Icon of="audit" small />
        {text.history}
      </summary>
      {isOpen.value && <Decisions {...props} />}
    </details>
  );
}

function Decisions({ uid, here }: HistoryProps) {
  const closed = usePaged(answeredRequests(uid, here), requestDocument);
  return (
    <>
      <Shown live={closed.live} what={text.history.toLowerCase()}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p class="soft">{text.noHistory}</p>
          ) : (
            <ul class="card rows">
              {rows.map((request) => (
                <Row key={request.id} request={request} />
              ))}
            </ul>
          )
        }
      </Shown>
      <MoreOf what={text.history.toLowerCase()} of={closed} />
    </>
  );
}

function Row({ request }: { readonly request: Request }) {
  return (
    <li class="row">
      <div class="grow">
        <p>
          <UserText text={request.question} limit={160} />
        </p>
        <p class="line soft">
          <Decided request={request} />
        </p>
        <p class="meta">
          <span>
            <Name id={request.asked_by_agent ?? request.asked_by} />
          </span>
          {request.task_id !== null && (
            <span>
              <TaskTitle id={request.task_id} limit={80} />
            </span>
          )}
          {request.settled_at !== null && <Ago at={request.settled_at} />}
        </p>
      </div>
    </li>
  );
}
