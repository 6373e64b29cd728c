/** An agent or a person, by their name. */
import { common } from '../../text/common.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { type Agent, agentDocument } from '../live/documents.ts';
import { heard, useLive } from '../live/live.ts';
import { pageOf } from '../live/paged.ts';
import { agent as agentQuery, agentsOf } from '../live/queries.ts';
import { document } from '../live/sources.ts';
import type { Live } from '../live/states.ts';
import { addressOf, workspace } from '../router.ts';
import { session } from '../session/session.ts';
import { PAGES } from '../shell/screens.ts';
import { nameOfPerson } from './people.ts';
import { usePresence } from './presence.ts';

interface WhoProps {
  /** Id of an agent, or uid of a person. */
  readonly id: string;
  readonly large?: boolean;
  /** Whether the name is a link, which it cannot be inside of a link. */
  readonly isLink?: boolean;
  /** Whether only the picture is shown. */
  readonly isOnlyPicture?: boolean;
  readonly hasSign?: boolean;
}

export function Who({ id, large = false, isLink = true, isOnlyPicture = false, hasSign = false }: WhoProps) {
  const { name, kind, agent, isLoading = false } = useName(id);
  const signed = hasSign ? agent : undefined;
  const sign = usePresence(signed === undefined ? [] : [signed])[0]?.sign;
  const shownSign = sign === 'idle' ? 'working' : sign === 'waiting' ? 'silent' : sign;
  const picture = <Avatar name={name} id={id} isPerson={kind === 'person'} large={large} sign={shownSign} />;
  if (isOnlyPicture) return picture;
  if (isLoading) return <span class="bone word" />;
  return (
    <span class="named">
      {picture}
      {kind === 'agent' && isLink ? (
        <a href={addressOf([PAGES.agent, id])}>
          <UserText text={name} limit={60} />
        </a>
      ) : (
        <UserText text={name} limit={60} />
      )}
    </span>
  );
}

/** Name of an agent or a person, for a sentence. */
export function Name({ id, isLink = true }: Pick<WhoProps, 'id' | 'isLink'>) {
  const { name, kind, isLoading = false } = useName(id);
  if (isLoading) return <span class="bone word" />;
  return kind === 'agent' && isLink ? (
    <a href={addressOf([PAGES.agent, id])}>
      <UserText text={name} limit={60} />
    </a>
  ) : (
    <b>
      <UserText text={name} limit={60} />
    </b>
  );
}

interface Named {
  readonly name: string;
  readonly kind: 'agent' | 'person';
  readonly agent?: Agent | undefined;
  /** Whether the name is not known yet, so that the id stands for it. */
  readonly isLoading?: boolean;
}

/** Returns the name by an id. Until it is known, and if it is unknown for good, the name is the id. */
export function useName(id: string): Named {
  const own = session.value.state === 'signedIn' ? session.value.person : undefined;
  const person = own?.uid === id ? common.you : nameOfPerson(id);
  const isPerson = person !== undefined;
  const listed = listedAgent(id);
  const isOwn = isPerson || id === '' || listed !== undefined;
  const alone = useLive(isOwn ? undefined : document(agentQuery(id), agentDocument));
  const live = listed ?? alone;
  if (person !== undefined) return { name: person, kind: 'person' };
  const agent = 'value' in live ? live.value : undefined;
  if (agent === undefined && 'value' in live) return { name: id === '' ? common.someone : id, kind: 'person' };
  return { name: agent?.name ?? id, kind: 'agent', agent, isLoading: live.state === 'loading' };
}

/** Returns the agent from the workspace's list of agents, if a part of the page listens to the list and it has them. */
function listedAgent(id: string): Live<Agent> | undefined {
  const list = heard(pageOf(agentsOf(workspace.value), agentDocument));
  if (list === undefined || !('value' in list)) return list?.state === 'loading' ? list : undefined;
  const agent = list.value.rows.find((one) => one.id === id);
  return agent && { ...list, value: agent };
}
