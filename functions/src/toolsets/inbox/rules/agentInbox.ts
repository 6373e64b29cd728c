/** News for which an idle agent is woken. Source: docs/decisions/0059-waking.md. */
import { membershipIn } from '../../../agents/rules/agent.ts';
import { mayReadMessages } from '../../../agents/rules/liveness.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import { cancellableDelay, LatestValue } from '../../../kernel/concurrency.ts';
import { DAY_MS, Service } from '../../../kernel/ports.ts';
import { agentNotFound, claimableKeys, mayReview, REVIEWS } from '../../coordination/index.ts';
import type { InboxPorts } from './ports.ts';

const REQUESTS = { states: ['answered', 'expired'], limit: 10 } as const;
const MAX_TASKS = 5;

/** Minimum time between two notifications of a queue's growth, because a busy queue grows many times per second. */
const GROWTH_PAUSE_MS = 500;

export class AgentInboxes extends Service<InboxPorts> {
  /**
   * Returns the unread messages to an agent, its questions that were closed within a day and whose answer it may not
   * have received, and tasks that it can claim. There are no tasks if it holds one or is not a worker of the workspace.
   * @throws MusterError NOT_FOUND if the caller cannot act as the agent, or may not read its messages
   */
  async read(principal: Principal, workspace: string, name: string) {
    const { clock, mailboxes, requests, tasks } = this.ports;
    const { agent, asks, works, session } = await this.find(principal, workspace, name);
    const isFree = works && Object.keys(agent.held).length === 0;
    const skills = agent.capability_details.map((skill) => skill.name);
    const [mailbox, closed, claimable] = await Promise.all([
      mailboxes.find(agent.id),
      asks ? requests.list({ by: 'asked_by', uid: principal.uid, workspace, states: REQUESTS.states }, REQUESTS) : null,
      isFree && session ? tasks.claimable(session.id, claimableKeys(session, [...skills, REVIEWS]), MAX_TASKS) : [],
    ]);
    const isNew = (settledAt: Date | undefined) => Number(settledAt) > clock.now().getTime() - DAY_MS;
    return {
      agent,
      messages: mailbox?.value.messages.filter((message) => message.workspace === workspace) ?? [],
      requests: closed?.items.filter((request) => !request.delivered_at && isNew(request.settled_at)) ?? [],
      tasks: claimable
        .map(({ value }) => value)
        .filter((task) => !task.reviews || mayReview(task, agent, principal, clock.now())),
    };
  }

  /** Yields after each change of the inbox, and possibly without a change. @throws MusterError like `read` */
  async watch(principal: Principal, workspace: string, name: string, end: AbortSignal) {
    const { agent, asks, works } = await this.find(principal, workspace, name);
    const changes = new LatestValue<true>();
    const changed = () => changes.set(true);
    const over = new AbortController();
    const stops = [
      this.ports.mailboxes.watch(agent.id, changed, changes.fail),
      ...(asks ? [this.ports.requests.watchOpenOf(principal.uid, changed, changes.fail)] : []),
      () => over.abort(),
    ];
    if (works) this.followQueue(workspace, over.signal, changed).catch(changes.fail);
    return changes.until(end, () => stops.forEach((stop) => void stop()));
  }

  private async followQueue(workspace: string, end: AbortSignal, changed: () => void): Promise<void> {
    while (!end.aborted) {
      const open = await this.ports.sessions.current(workspace);
      await this.ports.queue.growth(workspace, open ? { session: open.session.id, readAt: open.readAt } : {}, end);
      changed();
      await cancellableDelay(GROWTH_PAUSE_MS).promise;
    }
  }

  private async find(principal: Principal, workspace: string, name: string) {
    const { liveness, sessions } = this.ports;
    // A terminal asks in the name of its credential's agent, which gets the answers.
    const asks = principal.agent_id === name;
    const id = asks ? name : (await liveness.requireActable(principal, workspace, name))?.value.id;
    const { agent, open } = id === undefined ? {} : await sessions.currentWithAgent(workspace, id);
    if (agent === undefined || !mayReadMessages(principal, agent.value)) throw agentNotFound(name, 'agent_id');
    const works = membershipIn(agent.value, workspace) === 'worker';
    return { agent: agent.value, asks, works, session: open?.session };
  }
}
