/**
 * Prints database.rules.json. Its language has no functions, so the functions of firestore.rules are expanded here
 * into each rule. `UPDATE=1 npm test -- rules` writes the file.
 */
import { permissions } from '../../functions/src/access/rules/permissions.ts';
import { hasRole, ROLES, type Role, strongerOf } from '../../functions/src/identity/rules/role.ts';
import { FREE_FORM } from '../../functions/src/kernel/realtime/database.ts';

/** Rules as JSON: an expression, or rules of children. */
type Rules = { readonly [key: string]: Rules | string | boolean | readonly string[] };

const IS_AGENT = '(auth.token.ownerUid !== null)';

/** Escapes a uid as a key, like kernel/ids.ts. Uids contain no control characters. */
const ESCAPED = [...'%.#$[]/'].map((each) => {
  const code = each.charCodeAt(0).toString(16).toUpperCase();
  return `.replace('${each}', '%${code}')`;
});

function keyOf(uid: string): string {
  return `${uid}${ESCAPED.join('')}`;
}

/** Key of the person whose roles count: the caller, or an agent's owner. */
const PERSON_KEY = keyOf(`(${IS_AGENT} ? auth.token.ownerUid : auth.uid)`);

const PERSON = `root.child('access/people/' + ${PERSON_KEY})`;

/**
 * Whether the account is valid: a person has signed in since their sessions last ended, or an agent's owner has an
 * account that is neither disabled nor deleted.
 */
const SIGNED_IN = (() => {
  const limit = `${PERSON}.child(${IS_AGENT} ? 'out' : 'valid_since').exists()`;
  const since = `root.child('access/people/' + ${keyOf('auth.uid')} + '/valid_since').val()`;
  return `auth !== null && (!${limit} || (!${IS_AGENT} && auth.token.auth_time >= ${since}))`;
})();

/** Whether a token claims at least a role. The rule fails if the claim is not a string. */
function claims(claim: string, least: Role): string {
  const sufficient = ROLES.filter((role) => hasRole(role, least));
  return `${claim}.matches(/^(${sufficient.join('|')})$/)`;
}

/** Whether the deployment role, stored or claimed, is sufficient. Evaluated last, because a claim may be missing. */
function hasRoleByDeployment(least: Role): string {
  const claim = `(${IS_AGENT} ? auth.token.ownerRole : auth.token.role)`;
  return `(${PERSON}.child('role').exists() ? ${PERSON}.child('role/${least}').exists() : ${claims(claim, least)})`;
}

/** An agent's own role is its upper bound in every workspace. */
function isBoundBy(least: Role): string {
  return `(auth.token.ownerUid === null || ${claims('auth.token.role', least)})`;
}

function accessOf(workspace: string): string {
  return `root.child('access/workspaces/' + ${workspace})`;
}

/**
 * Whether the caller has at least a role in a workspace.
 * @param workspace an expression
 */
function hasRoleIn(workspace: string, least: Role): string {
  const isMember = `${PERSON}.child('workspaces/' + ${workspace} + '/${least}').exists()`;
  const isOpen = `(${workspace} === 'default' || ${accessOf(workspace)}.val() === 'open')`;
  // In a workspace that does not exist yet, the deployment's leaders and admins have access.
  const leads = `!${accessOf(workspace)}.exists() && ${hasRoleByDeployment(strongerOf(least, 'leader'))}`;
  return [
    SIGNED_IN,
    `(auth.token.heldTo === null || auth.token.heldTo === ${workspace})`,
    isBoundBy(least),
    `(${isMember} || (${isOpen} ? ${hasRoleByDeployment(least)} : ${leads}))`,
  ].join(' && ');
}

/** For owner-scoped data: whether the caller has a role in any workspace that it may use. */
function hasAnyRole(): string {
  const held = 'auth.token.heldTo';
  const anywhere = `(${PERSON}.child('workspaces').exists() || ${hasRoleByDeployment('viewer')})`;
  const isMember = `${PERSON}.child('workspaces/' + ${held} + '/viewer').exists()`;
  const there = `(${isMember} || (${accessOf(held)}.val() !== 'private' && ${hasRoleByDeployment('viewer')}))`;
  return `${isBoundBy('viewer')} && (${held} === null ? ${anywhere} : ${there})`;
}

const IS_OWNER = `${SIGNED_IN} && ${keyOf('auth.uid')} === $uid && ${hasAnyRole()}`;

const ACTS_FOR_OWNER = `${SIGNED_IN} && (${keyOf('auth.uid')} === $uid || ${PERSON_KEY} === $uid) && ${hasAnyRole()}`;

/** The workspace that the first segment names, else `default`. */
const NAMED = `(${accessOf('$first')}.exists() ? $first : 'default')`;

/** A string of bounded length or another value; nothing below the last level. */
function freeForm(level: number): Rules {
  if (level > FREE_FORM.levels) return { '.validate': false };
  const isBounded = `!newData.isString() || newData.val().length <= ${FREE_FORM.characters}`;
  return { '.validate': isBounded, [`$level${level + 1}`]: freeForm(level + 1) };
}

const FREE: Rules = {
  $first: { '.read': hasRoleIn(NAMED, 'viewer'), '.write': hasRoleIn(NAMED, 'worker'), ...freeForm(2) },
};

const text = (most: number, least = 0): Rules => ({
  '.validate': `newData.isString() && ${least > 0 ? `newData.val().length >= ${least} && ` : ''}newData.val().length <= ${most}`,
});

const NOTHING_ELSE: Rules = { '.validate': false };

/** An agent's home. A missing agent is refused like one in another workspace. */
const HOME = "(data.child('workspace').exists() ? data.child('workspace').val() : 'default')";

const COMMIT: Rules = {
  '.read': `${SIGNED_IN} && (!data.exists() || data.child('uid').val() === auth.uid) && ${hasAnyRole()}`,
  '.write': `${SIGNED_IN} && newData.child('uid').val() === auth.uid && (!data.exists() || data.child('expires_at').val() <= now) && ${hasAnyRole()}`,
  '.validate': "$id.length <= 40 && newData.hasChildren(['uid', 'expires_at'])",
  uid: { '.validate': 'newData.isString()' },
  expires_at: { '.validate': 'newData.isNumber() && newData.val() <= now + 172800000' },
  arguments_hash: text(64),
  over: text(200),
  $other: NOTHING_ELSE,
};

const DEVICE: Rules = {
  '.write': IS_OWNER,
  '.validate': "$device.length <= 100 && newData.hasChildren(['token', 'registered_at'])",
  token: text(4096, 1),
  registered_at: { '.validate': 'newData.isNumber() && newData.val() <= now' },
  name: text(100),
  $other: NOTHING_ELSE,
};

const RULES: Rules = {
  '.read': false,
  '.write': false,
  presence: { $agentId: { '.read': `data.exists() && ${hasRoleIn(HOME, 'viewer')}` } },
  tasks: { queue: { '.read': hasRoleIn("'default'", 'viewer') } },
  workspaces: { $workspace: { queue: { '.read': hasRoleIn('$workspace', 'viewer') } } },
  metrics: { minutes: { '.read': hasRoleIn("'default'", 'leader') } },
  commits: { $id: COMMIT },
  'task-updates': { $uid: { '.read': ACTS_FOR_OWNER } },
  // Notifications concern several workspaces, so a credential that is restricted to one cannot read them.
  notifications: { $uid: { '.read': `${ACTS_FOR_OWNER} && auth.token.heldTo === null` } },
  devices: { $uid: { '.read': IS_OWNER, $device: DEVICE } },
  messages: FREE,
  shared: FREE,
};

/** Returns the rules with the indexes of the table. */
export function printRealtimeRules(): string {
  let rules = RULES;
  for (const { database, path, indexOn } of permissions) {
    if (database === 'realtime' && indexOn !== undefined)
      rules = withIndex(rules, path.split('/').slice(0, -1), indexOn);
  }
  return `${JSON.stringify({ rules }, null, 2)}\n`;
}

function withIndex(rules: Rules, path: readonly string[], indexOn: readonly string[]): Rules {
  const [next, ...rest] = path;
  if (next === undefined) return { ...rules, '.indexOn': indexOn };
  const key = next.startsWith('{') ? `$${next.slice(1, -1)}` : next;
  const below = rules[key];
  return { ...rules, [key]: withIndex(isRules(below) ? below : {}, rest, indexOn) };
}

function isRules(value: Rules[string] | undefined): value is Rules {
  return typeof value === 'object' && !Array.isArray(value);
}
