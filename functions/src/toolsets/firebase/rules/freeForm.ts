/**
 * Creates audit entries for changes of free-form data, and undoes these changes. Source:
 * docs/decisions/0036-trail.md; docs/semantics.md#undo.
 */
import type { Caller, Principal } from '../../../identity/rules/principal.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import type { Fields } from '../../../kernel/documentCodec.ts';
import { cannotUndoError, changedNames, only, restoredFields } from '../../../kernel/effects.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { byteLength, type JsonValue, jsonObject, jsonValue } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { DATABASES, type DataPath, parsePath, type WriteOutcome } from './databaseAccess.ts';
import { sizeLimitExceeded } from './dataErrors.ts';
import type { DataChange, FirebasePorts } from './ports.ts';

/** Maximum size of the data before and after a write. One audit entry of at most 1 MiB contains both. */
const MAX_AUDITED_BYTES = 200_000;

/** Field that replaces data which is too large for the audit log. Neither database allows a field with this name. */
const NOT_RECORDED = '.not_kept';

/** Field for data that is not an object. The Realtime Database uses the same name. */
const VALUE = '.value';

/** Data at a path that the caller can read; undefined if the path has no data. */
interface State {
  readonly fields: Fields | undefined;
  readonly version?: string | undefined;
}

export class FreeFormAudit extends Service<Pick<FirebasePorts, 'databases'>> {
  /** Writes, and returns the data before and after the write. Both may contain another caller's concurrent write. */
  async audited(
    caller: Caller,
    path: DataPath,
    workspace: string,
    { isPush, write }: { readonly isPush: boolean; readonly write: () => Promise<WriteOutcome> },
  ) {
    const before = isPush ? undefined : await this.before(caller, path);
    const outcome = await write();
    const { key, isRepetition } = outcome;
    const written = key === undefined ? path : parsePath(path.database, `${path.text}/${key}`);
    const after = await this.after(caller, written, outcome);
    const known = isRepetition && !isPush ? fieldsNotRecorded('The write was made by an earlier call.') : before;
    const thing = { kind: 'document', id: `${written.database}:${written.text}`, workspace };
    const isWhole = [known, after].every((fields) => fields === undefined || !(NOT_RECORDED in fields));
    const effect: AuditEffect = { ...effectOf(thing, known, after), ...(!isWhole && { cut: true }) };
    return { outcome, changes: [{ kind: 'audit' as const, effect }] };
  }

  /**
   * Undoes a change with the caller's rights, unless the data changes after it is read here. The audit entry is
   * stored afterwards. If an instance crashes in between, the next attempt finds the data restored already.
   * @throws MusterError CONFLICT, with the reason CHANGED_SINCE or CANNOT_BE_UNDONE; errors of the database
   */
  readonly document = async (effect: AuditEffect, _by: Principal, caller: Caller): Promise<readonly DataChange[]> => {
    if (effect.cut) throw cannotUndoError(effect, 'The audit log did not store all of the data.');
    const path = pathOf(effect);
    const { fields: current, version } = await this.state(caller, path);
    if (isUnchanged(effect, current)) return [{ kind: 'audit', effect: effectOf(effect, effect.after, effect.before) }];
    const restored = restoredFields(effect, current);
    await this.ports.databases[path.database].write(caller, path, {
      ...(restored === undefined ? { operation: 'delete', data: null } : { operation: 'set', data: dataOf(restored) }),
      merge: false,
      transaction: true,
      expectedVersion: current === undefined ? null : version,
    });
    return [{ kind: 'audit', effect: effectOf(effect, current, restored) }];
  };

  private async before(caller: Caller, path: DataPath): Promise<Fields | undefined> {
    try {
      return (await this.state(caller, path)).fields;
    } catch (error) {
      return notRecordedBecauseOf(error, ['SIZE_LIMIT_EXCEEDED', 'PERMISSION_DENIED']);
    }
  }

  /** Returns the data after the write. The call succeeds even if this read is denied: the data was written. */
  private async after(caller: Caller, path: DataPath, written: WriteOutcome): Promise<Fields | undefined> {
    try {
      const { fields, version } = await this.state(caller, path);
      const isOthers = written.version !== undefined && version !== written.version;
      return isOthers ? fieldsNotRecorded('Another write changed the data at the same time.') : fields;
    } catch (error) {
      return notRecordedBecauseOf(error);
    }
  }

  /** @throws MusterError SIZE_LIMIT_EXCEEDED if the data is too large for the audit log; errors of the database */
  private async state(caller: Caller, path: DataPath): Promise<State> {
    const request = { shallow: false, maxBytes: MAX_AUDITED_BYTES };
    try {
      const { data, version } = await this.ports.databases[path.database].read(caller, path, request);
      if (byteLength(data) > MAX_AUDITED_BYTES) {
        const what = `The data exceeds ${MAX_AUDITED_BYTES} bytes of JSON, the audit log's limit.`;
        throw sizeLimitExceeded('path', what, 'Write to deeper paths, or to smaller documents.');
      }
      return { fields: fieldsOf(data), version };
    } catch (error) {
      if (error instanceof MusterError && error.code === 'NOT_FOUND') return { fields: undefined };
      throw error;
    }
  }
}

/** @param reasons reasons of the errors to ignore; if omitted, all MusterErrors are ignored */
function notRecordedBecauseOf(error: unknown, reasons?: readonly string[]): Fields {
  if (!(error instanceof MusterError)) throw error;
  const { code, details } = error;
  if (reasons !== undefined && !reasons.includes(details.reason ?? code)) throw error;
  return fieldsNotRecorded(error.message);
}

function fieldsNotRecorded(why: string): Fields {
  return { [NOT_RECORDED]: why };
}

function fieldsOf(data: JsonValue): Fields {
  if (Array.isArray(data)) return { ...data };
  const { success, data: object } = jsonObject.safeParse(data);
  return success ? object : { [VALUE]: data };
}

function dataOf(fields: Fields): JsonValue {
  return VALUE in fields ? jsonValue.parse(fields[VALUE]) : jsonObject.parse(fields);
}

function pathOf({ id }: AuditEffect): DataPath {
  const database = DATABASES.find((one) => id.startsWith(`${one}:`));
  if (database === undefined) throw new Error(`"${id}" contains no known database.`);
  return parsePath(database, id.slice(database.length + 1));
}

/** Returns whether an earlier attempt has already restored the data. */
function isUnchanged({ before, after = {} }: AuditEffect, current: Fields | undefined): boolean {
  if (before === undefined || current === undefined) return before === current;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return changedNames(only(current, names), only(before, names)).length === 0;
}

function effectOf(
  { kind, id, workspace }: Pick<AuditEffect, 'kind' | 'id' | 'workspace'>,
  before: Fields | undefined,
  after: Fields | undefined,
): AuditEffect {
  const whose = workspace === undefined ? {} : { workspace };
  return { kind, id, ...whose, ...(before && { before }), ...(after && { after }), free_form: true };
}
