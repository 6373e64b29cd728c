/** Messages about a task, and what the person was asked about it, in the order in which they came. */
import { shell } from '../../../text/shell.ts';
import { task as text } from '../../../text/task.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type Request, requestDocument, type Task, taskMessageDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { requestsAbout, taskMessages } from '../../live/queries.ts';
import { rowsOf } from '../../live/states.ts';
import { now } from '../../live/time.ts';
import { MoreOf } from '../../parts/More.tsx';
import { Section } from '../../parts/Notice.tsx';
import { At, agoText } from '../../parts/Time.tsx';
import { Name, Who } from '../../parts/Who.tsx';
import { ownUid } from '../../session/session.ts';
import { Decided } from '../needsYou/Decided.tsx';

export function Thread({ task }: { readonly task: Task }) {
  const messages = usePaged(taskMessages(task.workspace, task.id), taskMessageDocument);
  const requests = usePaged(requestsAbout(ownUid() ?? '', task.workspace, task.id), requestDocument);
  const entries = [
    ...rowsOf(messages).map((message) => ({ at: message.at, key: `${message.at.getTime()} ${message.text}`, message })),
    ...rowsOf(requests).map((request) => ({ at: request.created_at, key: request.id, request })),
  ].sort((one, other) => one.at.getTime() - other.at.getTime());
  if (entries.length === 0) return null;
  return (
    <Section title={text.thread} count={entries.length}>
      <MoreOf what={text.thread.toLowerCase()} of={messages} />
      <ol class="feed">
        {entries.map((entry) => (
          <li key={entry.key}>
            {'message' in entry ? <Message {...entry.message} /> : <Asked request={entry.request} />}
            <At at={entry.at} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

interface MessageProps {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly read_at: Date | null;
}

function Message({ from, to, text: words, read_at: read }: MessageProps) {
  return (
    <>
      <Who id={from} isOnlyPicture />
      <div>
        <p class="meta">
          <span>
            <Name id={from} /> <Fill text={text.toAgent} with={{ agent: <Name id={to} /> }} />
          </span>
          <span>{read === null ? text.unread : fill(text.read, { when: agoText(read, now.value) })}</span>
        </p>
        <p class="lines">
          <UserText text={words} links limit={2000} />
        </p>
      </div>
    </>
  );
}

function Asked({ request }: { readonly request: Request }) {
  const asker = request.asked_by_agent ?? request.asked_by;
  // Muster asks about results in the name of the person who is asked.
  const isOfMuster = request.proves !== null;
  return (
    <>
      {isOfMuster ? <Icon of="is-verifying" /> : <Who id={asker} isOnlyPicture />}
      <div>
        <p class="meta">{isOfMuster ? shell.name : <Name id={asker} />}</p>
        <p class="lines">
          <UserText text={request.question} limit={1000} />
        </p>
        <p class="line">
          <Decided request={request} />
        </p>
      </div>
    </>
  );
}
