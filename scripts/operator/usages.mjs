// @ts-check
/** Usage texts of the operator's programs. This file needs no installed package, so --help works in a new clone. */

const deployment = `Deployment:
  --project <id>   the Firebase project; requires your own Google credentials
                   (gcloud auth application-default login)
  --emulator       the emulators of a running npm start`;

/** @param {string} program @param {string} more */
function siteUsage(program, more) {
  return `Usage:
  npm run ${program} -- --project <id>
${more}
Credentials: gcloud auth application-default login, or GOOGLE_OAUTH_ACCESS_TOKEN, or
GOOGLE_APPLICATION_CREDENTIALS. With one of the last two, gcloud is not required.`;
}

export const agentsUsage = `Usage:
  npm run agents -- list [--owner <uid>] [--workspace <name>]
  npm run agents -- create --name <name> --owner <uid or email> [--role viewer|worker|leader|admin] [--workspace <name>]
  npm run agents -- renew <agentId>
  npm run agents -- set-role <agentId> <role>
  npm run agents -- revoke <agentId>
Restrictions of a new credential, for create and renew:
  --toolsets a,b          only these toolsets: onboarding, access, system, firebase, github, coordination, todo, orchestration, coding, inbox
  --held-to <workspace>   only this workspace
  --read-only             only calls that change nothing
  --without-limits        removes the restrictions of the previous credential
  --json                  prints JSON
${deployment}`;

export const peopleUsage = `Usage:
  npm run people -- list [--workspace <name>]
  npm run people -- show <uid or email>
  npm run people -- create --mail <email> [--name <name>] [--role viewer|worker|leader|admin]
  npm run people -- set-role <uid or email> <viewer|worker|leader|admin|none>
  npm run people -- add <uid or email> --workspace <name> [--role viewer|worker|leader]
  npm run people -- remove <uid or email> --workspace <name>
  npm run people -- revoke <uid or email>
  npm run people -- erase --person <uid or email> (--dry-run | --yes)
set-role sets the role for every open workspace; add sets it for one workspace.
revoke removes everything: role, memberships, the credentials of their agents, sign-ins.
erase deletes their data and account, and replaces their name elsewhere with a pseudonym.
  --unverified     finds accounts by an address that they have not verified
  --json           prints JSON
${deployment}
  --database-url <url>   for erase: the URL of the Realtime Database, if not https://<id>-default-rtdb.firebaseio.com`;

export const rebuildUsage =
  'Usage: npm run rebuild -- queue|files|counters|presence|access … [--dry-run] (--project <id> [--database-url <url>] | --emulator)';

export const doctorUsage = siteUsage('doctor', '  --json           prints JSON');

export const deployUsage = siteUsage(
  'deploy',
  `  --dry-run        prints the steps without running them
  --secrets <file> values of secrets, as NAME=value; a missing value is read from the environment, or set to "none"`,
);
