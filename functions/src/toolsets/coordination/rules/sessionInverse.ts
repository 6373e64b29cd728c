/** Takes back what was said of a session. Source: docs/semantics.md#taking-back. */
import { type Principal, roleIn } from '../../../access/rules/principal.ts';
import { hasRole } from '../../../access/rules/role.ts';
import type { Change } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import { asBefore, cannotUndo, changedSince, type Effect, type FieldsCodec } from '../../../kernel/trail.ts';
import type { CoordinationPorts } from './ports.ts';
import type { Session } from './session.ts';

interface InversePorts extends CoordinationPorts {
  readonly sessionFields: FieldsCodec<Session>;
}

export class SessionInverse extends Service<InversePorts> {
  /**
   * Its former goal and plan; which session is open is nothing that this changes.
   * @throws MusterError FORBIDDEN; CONFLICT, with the reason CHANGED_SINCE or CANNOT_BE_UNDONE
   */
  readonly session = async (effect: Effect, by: Principal): Promise<readonly Change[]> => {
    const { sessions, sessionFields } = this.ports;
    const { workspace = '' } = effect;
    if (!hasRole(roleIn(by, workspace) ?? 'viewer', 'leader')) throw onlyLeaders(effect);
    if (effect.before === undefined || effect.after === undefined) throw cannotUndo(effect, REOPEN);
    const open = await sessions.current(workspace);
    if (open?.session.id !== effect.id) throw changedSince(effect, ['it was archived']);
    const { session: before, sessionVersion: version } = open;
    const fields = asBefore(effect, sessionFields.of(before));
    if (fields === undefined) return [];
    return [{ kind: 'describeSession', session: sessionFields.from(fields), before, version }];
  };
}

const REOPEN =
  'coordination.reopen brings an archived session back, and coordination.init_coordination begins another.';

function onlyLeaders({ id, workspace }: Effect): MusterError {
  return new MusterError('FORBIDDEN', `Only leaders say what the session "${id}" is for.`, {
    reason: 'ROLE_TOO_WEAK',
    suggestion: `Ask a leader of the workspace "${workspace}" to take it back.`,
  });
}
