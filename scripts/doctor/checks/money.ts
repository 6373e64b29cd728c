/** Checks of the limits on cost. */
import { type Check, known, OK, problemUnless, setParameter, waitsFor } from '../check.ts';
import { current, placeOf } from './functions.ts';

/** Maximum number of instances per service in most regions, unless Google has raised the project's quota. */
const MAX_INSTANCES = 1000;

export const moneyChecks: readonly Check[] = [
  {
    name: 'budget',
    find: (site) =>
      known(site, site.seen.billing, ({ billingAccountName }) => {
        if (billingAccountName === '') return waitsFor('no billing account');
        return known(site, site.seen.budgets, (budgets) => {
          const { number, id } = site.seen.project;
          const own = budgets.some(
            ({ budgetFilter: { projects } }) =>
              projects.length === 0 || projects.includes(`projects/${number}`) || projects.includes(`projects/${id}`),
          );
          return problemUnless(own, {
            what: 'the project has no budget',
            why: 'without a budget, only the bill shows that agents loop; a budget sends emails at 50%, 90% and 100% of its amount',
            fix: {
              command: `gcloud billing budgets create --billing-account=${billingAccountName.replace('billingAccounts/', '')} --display-name=${id} --budget-amount=50 --filter-projects=projects/${id} --threshold-rule=percent=0.5 --threshold-rule=percent=0.9 --threshold-rule=percent=1.0`,
            },
          });
        });
      }),
  },
  {
    name: 'maximum instances',
    find: (site) => {
      const max = Number(site.declared.parameters['MAX_INSTANCES']);
      const problem = (what: string) =>
        ({
          state: 'problem',
          what,
          why: 'MAX_INSTANCES and CONCURRENCY limit the number of concurrent requests and the cost per day',
          fix: setParameter(site.declared, 'MAX_INSTANCES', '100'),
        }) as const;
      if (!(max >= 1 && max <= MAX_INSTANCES))
        return problem(
          `MAX_INSTANCES is ${site.declared.parameters['MAX_INSTANCES'] || 'empty'}, but must be 1 to ${MAX_INSTANCES}`,
        );
      return known(site, site.seen.functions, (functions) => {
        const mcp = current(site, functions).find((one) => placeOf(one).id === 'mcp');
        const deployed = mcp?.serviceConfig?.maxInstanceCount;
        if (mcp === undefined || deployed === max) return OK;
        return {
          ...problem(`mcp is deployed with ${deployed ?? 'unlimited'} instances, but MAX_INSTANCES is ${max}`),
          fix: { command: `npm run deploy -- --project ${site.declared.project}` },
        };
      });
    },
  },
];
