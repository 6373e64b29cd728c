/** Checks the hosted agents of the project that is built. `npm run build` runs it, so a fault stops a deployment. */
import { declaredModels } from './file.ts';

const { faults } = declaredModels(process.env['GCLOUD_PROJECT']);
if (faults !== undefined) {
  console.error(faults);
  process.exit(1);
}
