/** Takes back what was done to members and workspaces. Source: docs/semantics.md#taking-back. */

import type { AccessChange } from '../../../access/rules/ports.ts';
import type { Principal } from '../../../access/rules/principal.ts';
import { Service } from '../../../kernel/ports.ts';
import { asBefore, type Effect } from '../../../kernel/trail.ts';
import { authorised, refusalIn } from './administration.ts';
import { type MemberPorts, withoutLeader } from './members.ts';

export class MemberInverse extends Service<MemberPorts> {
  /**
   * Only whoever may change members now has a change of them taken back.
   * @throws MusterError FORBIDDEN; CONFLICT, with the reason CHANGED_SINCE
   */
  readonly member = async (effect: Effect, by: Principal): Promise<readonly AccessChange[]> => {
    const { people, memberFields } = this.ports;
    const { workspace = '' } = effect;
    const principal = await authorised(this.ports, by, (one) => refusalIn(one, workspace, 'leader'));
    const uid = effect.id.slice(workspace.length + 1);
    const known = await people.member(workspace, uid);
    const fields = asBefore(effect, known && memberFields.of(known.value));
    const member = fields && memberFields.from(fields);
    const kept = await withoutLeader(this.ports, { principal, workspace }, known, member?.role);
    if (member !== undefined)
      return [{ kind: 'setMember', member, before: known?.value, version: known?.version ?? null }, ...kept];
    if (known === undefined) return [];
    return [{ kind: 'removeMember', workspace, uid, before: known.value, version: known.version }, ...kept];
  };
}
