/** Checks that every secret has a value, which may be "none", and that functions can read their secrets. */
import { rolesIn, serviceAccountMember } from '../../google/policy.ts';
import { type Check, knownAll, list, OK, waitsFor } from '../check.ts';
import { SECRET_ROLE } from '../needs.ts';

export const secretChecks: readonly Check[] = [
  {
    name: 'secrets',
    find: (site) =>
      knownAll(site, site.seen.secretVersions, (versions) => {
        const missing = [...versions].filter(([, all]) => (all ?? []).length === 0).map(([name]) => name);
        if (missing.length === 0) return OK;
        const names = missing.length === 1 ? missing[0] : `$name`;
        const set = `printf none | npx firebase functions:secrets:set ${names} --data-file - --force --non-interactive --project ${site.declared.project}`;
        return {
          state: 'problem',
          what: `without a value: ${list(missing)}`,
          why: 'functions that use these secrets cannot be deployed; if you do not have a secret, set it to "none"',
          fix: { command: missing.length === 1 ? set : `for name in ${missing.join(' ')}; do ${set}; done` },
        };
      }),
  },
  {
    name: 'access to secrets',
    find: (site) =>
      knownAll(site, site.seen.secretPolicies, (policies) => {
        const { account } = site.seen;
        const member = serviceAccountMember(account);
        const there = [...policies].flatMap(([name, policy]) => (policy === undefined ? [] : [{ name, policy }]));
        if (there.length === 0) return waitsFor('no secret');
        const closed = there.filter(({ policy }) => !rolesIn(policy, member).includes(SECRET_ROLE));
        if (closed.length === 0) return OK;
        const names = closed.map(({ name }) => name);
        const bind = `gcloud secrets add-iam-policy-binding ${names.length === 1 ? names[0] : '$name'} --member=${member} --role=${SECRET_ROLE} --project ${site.declared.project}`;
        return {
          state: 'problem',
          what: `${account} cannot read ${list(names)}`,
          why: 'Cloud Run starts no instance of a function whose secrets it cannot read',
          fix: { command: names.length === 1 ? bind : `for name in ${names.join(' ')}; do ${bind}; done` },
        };
      }),
  },
];
