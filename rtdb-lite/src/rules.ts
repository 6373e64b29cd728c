/** Security rules: targaryen's expression parser/evaluator under our own traversal over the immutable tree. */
import firebaseJson from 'firebase-json';
import query from 'targaryen/lib/database/query.js';
import parser from 'targaryen/lib/parser/index.js';
import stringMethods from 'targaryen/lib/parser/string-methods.js';
const parseJSON = firebaseJson.parse, ruleQuery = query.create, parse = parser.parse; type Rule = any;
import { get, indexOf, splitPath, toJSON, type Node, type Path, type Query } from './tree.ts';

stringMethods.endsWith = (s, x) => s.endsWith(x); // targaryen 3.1.0 looks at the first occurrence only

export class RulesError extends Error {}
export interface Auth { uid: string | null; token: Record<string, unknown>; provider?: unknown }
/** `admin` is the emulator's "owner": rules do not apply. */
export interface Who { admin: boolean; auth: Auth | Record<string, unknown> | null }

interface RuleNode { read?: Rule; write?: Rule; validate?: Rule; indexOn: string[]; kids: Map<string, RuleNode>; wild?: [string, RuleNode] }

/** What rules call `data`, `newData` and `root` (targaryen's evaluator checks types by this class name). */
class RuleDataSnapshot {
  private readonly rootNode: Node;
  private readonly path: Path;
  constructor(rootNode: Node, path: Path) { this.rootNode = rootNode; this.path = path; }
  private get n(): Node { return get(this.rootNode, this.path); }
  val(): unknown { const v = toJSON(this.n); return Array.isArray(v) ? { ...v } : v; }
  getPriority(): unknown { return this.n?.p ?? null; }
  exists(): boolean { return this.n !== null; }
  child(p: string): RuleDataSnapshot {
    if (typeof p !== 'string') throw new Error(`${String(p)} should be a string.`);
    return new RuleDataSnapshot(this.rootNode, [...this.path, ...splitPath(p)]);
  }
  parent(): RuleDataSnapshot {
    if (!this.path.length) throw new Error('No such method/property parent at the root.');
    return new RuleDataSnapshot(this.rootNode, this.path.slice(0, -1));
  }
  hasChild(p: string): boolean { return this.child(p).exists(); }
  hasChildren(names?: string[]): boolean { return names ? names.every((x) => this.hasChild(x)) : !!this.n?.c; }
  isNumber(): boolean { return typeof this.n?.v === 'number'; }
  isString(): boolean { return typeof this.n?.v === 'string'; }
  isBoolean(): boolean { return typeof this.n?.v === 'boolean'; }
}

export class Ruleset {
  private readonly root: RuleNode;
  readonly json: unknown;
  readonly source: string;
  constructor(source: string) {
    this.source = source;
    let json: unknown;
    try { this.json = json = parseJSON(source); } catch (e) { throw new RulesError(`Parse error: ${(e as Error).message}`); }
    const top = json as { rules?: unknown } | null;
    if (!top || typeof top !== 'object' || !top.rules || Object.keys(top).length !== 1) {
      throw new RulesError('Parse error: Expected a single root object with property "rules".');
    }
    this.root = compile(top.rules, [], []);
  }

  private *walk(path: Path): Generator<[Path, RuleNode, Record<string, string>]> {
    let at: RuleNode | undefined = this.root, vars: Record<string, string> = {};
    yield [[], at, vars];
    for (let i = 0; i < path.length; i++) {
      const key = path[i]!, kid: RuleNode | undefined = at.kids.get(key);
      if (!kid && at.wild) vars = { ...vars, [at.wild[0]]: key };
      at = kid ?? at.wild?.[1];
      if (!at) return;
      yield [path.slice(0, i + 1), at, vars];
    }
  }

  canRead(root: Node, path: Path, who: Who, q: Query = {}, now = Date.now()): boolean {
    if (who.admin) return true;
    const base = { root: new RuleDataSnapshot(root, []), auth: who.auth, now, query: ruleQuery(queryVars(q)) };
    for (const [p, r, vars] of this.walk(path)) {
      if (r.read && test(r.read, { ...base, ...vars, data: new RuleDataSnapshot(root, p) })) return true;
    }
    return false;
  }

  canWrite(before: Node, after: Node, path: Path, who: Who, now = Date.now()): boolean {
    if (who.admin) return true;
    const base = { root: new RuleDataSnapshot(before, []), auth: who.auth, now };
    const state = (p: Path, vars: object): object =>
      ({ ...base, ...vars, data: new RuleDataSnapshot(before, p), newData: new RuleDataSnapshot(after, p) });
    const gone = get(after, path) === null; // a removal is not validated
    let permitted = false, last: [RuleNode, Record<string, string>] | null = null;
    for (const [p, r, vars] of this.walk(path)) {
      permitted ||= !!r.write && test(r.write, state(p, vars));
      if (!gone && r.validate && !test(r.validate, state(p, vars))) return false;
      last = p.length === path.length ? [r, vars] : null;
    }
    if (!permitted) return false;
    const below = (r: RuleNode, vars: Record<string, string>, p: Path, n: Node): boolean => {
      for (const [k, x] of n?.c ?? []) {
        const kid = r.kids.get(k) ?? r.wild?.[1];
        if (!kid) continue;
        const v = r.kids.has(k) ? vars : { ...vars, [r.wild![0]]: k }, kp = [...p, k];
        if (kid.validate && !test(kid.validate, state(kp, v))) return false;
        if (!below(kid, v, kp, x)) return false;
      }
      return true;
    };
    return gone || !last || below(last[0], last[1], path, get(after, path));
  }

  isIndexed(path: Path, q: Query): boolean {
    const i = indexOf(q);
    if (i === '.key' || i === '.priority') return true;
    for (const [p, r] of this.walk(path)) if (p.length === path.length && r.indexOn.some((x) => splitPath(x).join('/') === splitPath(i).join('/'))) return true;
    return false;
  }
}

function compile(def: unknown, at: string[], wilds: string[]): RuleNode {
  const where = `/${at.join('/')}`;
  if (!def || typeof def !== 'object' || Array.isArray(def)) throw new RulesError(`${where}: Expected rules object.`);
  const node: RuleNode = { indexOn: [], kids: new Map() };
  for (const [k, x] of Object.entries(def)) {
    if (k === '.read' || k === '.write' || k === '.validate') {
      if (typeof x !== 'string' && typeof x !== 'boolean') throw new RulesError(`${where}/${k}: Expected a string or boolean.`);
      try { node[k.slice(1) as 'read' | 'write' | 'validate'] = parse(String(x), wilds, k !== '.read'); }
      catch (e) { throw new RulesError(`${where}/${k}: ${(e as Error).message}`); }
    } else if (k === '.indexOn') node.indexOn = (Array.isArray(x) ? x : [x]).map(String);
    else if (k.startsWith('.')) throw new RulesError(`${where}: Unknown rule ${k}.`);
    else if (k.startsWith('$')) {
      if (node.wild) throw new RulesError(`${where}: Cannot have multiple default rules ('${k}' and '${node.wild[0]}').`);
      if (wilds.includes(k)) throw new RulesError(`${where}: Cannot have a default rule '${k}' twice on a path.`);
      node.wild = [k, compile(x, [...at, k], [...wilds, k])];
    } else node.kids.set(k, compile(x, [...at, k], wilds));
  }
  return node;
}
function test(r: Rule, state: object): boolean {
  try { return r.evaluate(state) === true; } catch { return false; } // a runtime error makes the rule false, as in the service
}
function queryVars(q: Query): object {
  const i = indexOf(q), out: Record<string, unknown> = {};
  if (i === '.key') out.orderByKey = true; else if (i === '.value') out.orderByValue = true;
  else if (i === '.priority') out.orderByPriority = true; else out.orderByChild = i.replace(/^\//, '');
  if ('sp' in q && 'ep' in q && q.sp === q.ep && !('sn' in q) && !('en' in q)) out.equalTo = q.sp;
  if ('sp' in q) out.startAt = q.sp;
  if ('ep' in q) out.endAt = q.ep;
  if (q.l !== undefined) out[q.vf === 'r' ? 'limitToLast' : 'limitToFirst'] = q.l;
  return out;
}
