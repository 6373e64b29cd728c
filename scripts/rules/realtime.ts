/**
 * Prints database.rules.json. Its language has no functions, so this script expands the functions of firestore.rules
 * in each rule. `UPDATE=1 npm test -- rules` writes the file.
 */
import { permissions } from '../../functions/src/access/rules/permissions.ts';
import { hasRole, ROLES, type Role } from '../../functions/src/identity/rules/role.ts';
import { FREE_FORM } from '../../functions/src/kernel/realtime/database.ts';

/** Rules as JSON: an expression, or rules of children. */
type Rules = { readonly [key: string]: Rules | string | boolean | readonly string[] };

const IS_AGENT = '(auth.token.ownerUid !== null)';

/** Returns the expression that escapes a uid as a key, as kernel/ids.ts does. Uids contain no control characters. */
const ESCAPED = [...'%.#$[]/'].map((each) => {
  const code = each.charCodeAt(0).toString(16).toUpperCase();
  return `.replace('${each}', '%${code}')`;
});

function keyOf(uid: string): string {
  return `${uid}${ESCAPED.join('')}`;
}

/** Key of the person whose roles apply: the caller or, if the caller is an agent, its owner. */
const PERSON_KEY = keyOf(`(${IS_AGENT} ? auth.token.ownerUid : auth.uid)`);
const PERSON = `root.child('access/people/' + ${PERSON_KEY})`;

/**
 * Whether the account is valid. A person must have signed in after their sessions were last revoked. The owner of an
 * agent must have an account that is neither disabled nor deleted.
 */
const SIGNED_IN = (() => {
  const limit = `${PERSON}.child(${IS_AGENT} ? 'out' : 'valid_since').exists()`;
  const since = `root.child('access/people/' + ${keyOf('auth.uid')} + '/valid_since').val()`;
  return `auth !== null && (!${limit} || (!${IS_AGENT} && auth.token.auth_time >= ${since}))`;
})();

/** Whether the role in a token's claim is at least the given role. Refuses access if the claim is not a string. */
function claims(claim: string, min: Role): string {
  const sufficient = ROLES.filter((role) => hasRole(role, min));
  return `${claim}.matches(/^(${sufficient.join('|')})$/)`;
}

/** Whether the stored or claimed deployment role is sufficient. Evaluated last, as a rule fails without the claim. */
function hasRoleByDeployment(min: Role): string {
  const claim = `(${IS_AGENT} ? auth.token.ownerRole : auth.token.role)`;
  return `(${PERSON}.child('role').exists() ? ${PERSON}.child('role/${min}').exists() : ${claims(claim, min)})`;
}

/** Whether an agent's own role, which limits it in every workspace, is sufficient. */
function isBoundBy(min: Role): string {
  return `(auth.token.ownerUid === null || ${claims('auth.token.role', min)})`;
}

function accessOf(workspace: string): string {
  return `root.child('access/workspaces/' + ${workspace})`;
}

/**
 * Whether the caller has at least the given role in a workspace.
 * @param workspace an expression
 */
function hasRoleIn(workspace: string, min: Role): string {
  const isMember = `${PERSON}.child('workspaces/' + ${workspace} + '/${min}').exists()`;
  const isOpen = `(${workspace} === 'default' || ${accessOf(workspace)}.val() === 'open')`;
  // Leaders and admins of the deployment have access to a workspace that does not exist yet.
  const leads = `!${accessOf(workspace)}.exists() && ${hasRoleByDeployment(hasRole(min, 'leader') ? min : 'leader')}`;
  return [
    SIGNED_IN,
    `(auth.token.heldTo === null || auth.token.heldTo === ${workspace})`,
    isBoundBy(min),
    `(${isMember} || (${isOpen} ? ${hasRoleByDeployment(min)} : ${leads}))`,
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

/** The workspace that the first segment of the path names; `default` if no workspace has that name. */
const NAMED = `(${accessOf('$first')}.exists() ? $first : 'default')`;

/** Allows a string of at most the given length, or a value that is not a string, at each level. */
function freeForm(level: number): Rules {
  if (level > FREE_FORM.levels) return { '.validate': false };
  const isBounded = `!newData.isString() || newData.val().length <= ${FREE_FORM.characters}`;
  return { '.validate': isBounded, [`$level${level + 1}`]: freeForm(level + 1) };
}

const FREE: Rules = {
  $first: { '.read': hasRoleIn(NAMED, 'viewer'), '.write': hasRoleIn(NAMED, 'worker'), ...freeForm(2) },
};

const text = (max: number, min = 0): Rules => ({
  '.validate': `newData.isString() && ${min > 0 ? `newData.val().length >= ${min} && ` : ''}newData.val().length <= ${max}`,
});

const NOTHING_ELSE: Rules = { '.validate': false };

/** The agent's home workspace. A read of a missing agent is refused, like a read of one in another workspace. */
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

/** Whether the server writes conditionally: see docs/decisions/0012-subscription-log.md. No ID token has this value. */
const WRITES_BUS = 'auth !== null && auth.writesBus === true';

const BUS: Rules = {
  // Only a missing entry can be written. A repeated write of the same entry has no effect.
  log: {
    $entry: {
      '.write': `${WRITES_BUS} && (!data.exists() || data.child('writer').val() === newData.child('writer').val())`,
    },
  },
  // Only the holder of a lease can renew it.
  watcher: {
    '.write': `${WRITES_BUS} && data.exists() && data.child('holder').val() === newData.child('holder').val()`,
  },
};

const METRICS: Rules = { '.read': hasRoleIn("'default'", 'leader') };

const RULES: Rules = {
  '.read': false,
  '.write': false,
  presence: { $agentId: { '.read': `data.exists() && ${hasRoleIn(HOME, 'viewer')}` } },
  tasks: { queue: { '.read': hasRoleIn("'default'", 'viewer') } },
  workspaces: { $workspace: { queue: { '.read': hasRoleIn('$workspace', 'viewer') } } },
  metrics: { minutes: METRICS, days: METRICS },
  commits: { $id: COMMIT },
  'task-updates': { $uid: { '.read': ACTS_FOR_OWNER } },
  // Notifications concern several workspaces, so a credential that is restricted to one workspace cannot read them.
  notifications: { $uid: { '.read': `${ACTS_FOR_OWNER} && auth.token.heldTo === null` } },
  devices: { $uid: { '.read': IS_OWNER, $device: DEVICE } },
  messages: FREE,
  shared: FREE,
  bus: { $log: BUS },
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
