/**
 * What the trail tells of free-form data, and taking it back. Source: docs/decisions/0036-trail.md;
 * docs/semantics.md#taking-back.
 */
import type { Caller, Principal } from '../../../identity/rules/principal.ts';
import type { Fields } from '../../../kernel/documentCodec.ts';
import { asBefore, cannotUndo, changedNames } from '../../../kernel/effects.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { byteLength, type JsonValue, jsonObject, jsonValue } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import type { Effect } from '../../../kernel/trail.ts';
import { DATABASES, type DataPath, parsePath, type WriteOutcome } from './databaseAccess.ts';
import { sizeLimitExceeded } from './dataErrors.ts';
import type { DataChange, FirebasePorts } from './ports.ts';

/** Of each of the two states of an entry, which is one document and holds 1 MiB. */
const MAX_KEPT_BYTES = 200_000;

/** What stands in a state's place that is not kept. No field of either database has this name. */
const NOT_KEPT = '.not_kept';

/** The Realtime Database's own word for a value that is no object. */
const VALUE = '.value';

/** How something is, as the caller reads it; undefined where there is nothing. */
interface State {
  readonly fields: Fields | undefined;
  readonly version?: string | undefined;
}

interface Written {
  readonly outcome: WriteOutcome;
  readonly effect: Effect;
}

export class FreeFormTrail extends Service<Pick<FirebasePorts, 'databases'>> {
  /** Writes, and tells what changed, maybe by others in the same moment too: the states are read beside the write. */
  async told(
    caller: Caller,
    path: DataPath,
    workspace: string,
    { isPush, write }: { readonly isPush: boolean; readonly write: () => Promise<WriteOutcome> },
  ): Promise<Written> {
    const before = isPush ? undefined : await this.before(caller, path);
    const outcome = await write();
    const { key, isRepetition } = outcome;
    const written = key === undefined ? path : parsePath(path.database, `${path.text}/${key}`);
    const after = await this.after(caller, written, outcome);
    const known = isRepetition && !isPush ? notKept('A call before this one has written it.') : before;
    const thing = { kind: 'document', id: `${written.database}:${written.text}`, workspace };
    const isWhole = [known, after].every((fields) => fields === undefined || !(NOT_KEPT in fields));
    return { outcome, effect: { ...effectOf(thing, known, after), ...(!isWhole && { cut: true as const }) } };
  }

  /**
   * Takes an effect back as the caller, under the security rules: by a write over exactly what was read, which is
   * carried out here and told by the commit. Where an instance dies in between, the next attempt finds it as it was.
   * @throws MusterError CONFLICT, with the reason CHANGED_SINCE or CANNOT_BE_UNDONE; those of the database
   */
  readonly document = async (
    effect: Effect,
    _by: Principal,
    caller: Caller,
  ): Promise<readonly DataChange[]> => {
    if (effect.cut) throw cannotUndo(effect, 'The trail does not keep all that was there.');
    const path = pathOf(effect);
    const { fields: current, version } = await this.state(caller, path);
    if (isAsBefore(effect, current))
      return [{ kind: 'tell', effect: effectOf(effect, effect.after, effect.before) }];
    const restored = asBefore(effect, current);
    await this.ports.databases[path.database].write(caller, path, {
      ...(restored === undefined
        ? { operation: 'delete', data: null }
        : { operation: 'set', data: dataOf(restored) }),
      merge: false,
      transaction: true,
      expectedVersion: current === undefined ? null : version,
    });
    return [{ kind: 'tell', effect: effectOf(effect, current, restored) }];
  };

  private async before(caller: Caller, path: DataPath): Promise<Fields | undefined> {
    try {
      return (await this.state(caller, path)).fields;
    } catch (error) {
      return refused(error, ['SIZE_LIMIT_EXCEEDED', 'PERMISSION_DENIED']);
    }
  }

  /** What cannot be read any more was written all the same. */
  private async after(caller: Caller, path: DataPath, written: WriteOutcome): Promise<Fields | undefined> {
    try {
      const { fields, version } = await this.state(caller, path);
      const isOthers = written.version !== undefined && version !== written.version;
      return isOthers ? notKept('Somebody has changed it in the same moment.') : fields;
    } catch (error) {
      return refused(error);
    }
  }

  /** @throws MusterError SIZE_LIMIT_EXCEEDED where there is more than the trail keeps; those of the database */
  private async state(caller: Caller, path: DataPath): Promise<State> {
    const request = { shallow: false, mostBytes: MAX_KEPT_BYTES };
    try {
      const { data, version } = await this.ports.databases[path.database].read(caller, path, request);
      if (byteLength(data) > MAX_KEPT_BYTES) throw tooMuch();
      return { fields: fieldsOf(data), version };
    } catch (error) {
      if (error instanceof MusterError && error.code === 'NOT_FOUND') return { fields: undefined };
      throw error;
    }
  }
}

/** @param reasons of the refusals that are stepped over; all where none are named */
function refused(error: unknown, reasons?: readonly string[]): Fields {
  if (!(error instanceof MusterError)) throw error;
  const { code, details } = error;
  if (reasons !== undefined && !reasons.includes(details.reason ?? code)) throw error;
  return notKept(error.message);
}

function notKept(why: string): Fields {
  return { [NOT_KEPT]: why };
}

function tooMuch(): MusterError {
  const what = `The trail keeps ${MAX_KEPT_BYTES} bytes of JSON of what is written, and there is more.`;
  return sizeLimitExceeded('path', what, 'Write to deeper paths, or to smaller documents.');
}

function fieldsOf(data: JsonValue): Fields {
  if (Array.isArray(data)) return { ...data };
  const { success, data: object } = jsonObject.safeParse(data);
  return success ? object : { [VALUE]: data };
}

function dataOf(fields: Fields): JsonValue {
  return VALUE in fields ? jsonValue.parse(fields[VALUE]) : jsonObject.parse(fields);
}

function pathOf({ id }: Effect): DataPath {
  const database = DATABASES.find((one) => id.startsWith(`${one}:`));
  if (database === undefined) throw new Error(`"${id}" names no database.`);
  return parsePath(database, id.slice(database.length + 1));
}

/** Whether what the effect has changed is already as it was: taken back by an attempt that did not come to its end. */
function isAsBefore({ before, after = {} }: Effect, current: Fields | undefined): boolean {
  if (before === undefined || current === undefined) return before === current;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const those = (fields: Fields) =>
    Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
  return changedNames(those(current), those(before)).length === 0;
}

function effectOf(
  { kind, id, workspace }: Pick<Effect, 'kind' | 'id' | 'workspace'>,
  before: Fields | undefined,
  after: Fields | undefined,
): Effect {
  const whose = workspace === undefined ? {} : { workspace };
  return { kind, id, ...whose, ...(before && { before }), ...(after && { after }), free_form: true };
}
