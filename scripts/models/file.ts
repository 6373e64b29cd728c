/** The hosted agents that a project's models.json declares, or the faults of the file. */
import { existsSync, readFileSync } from 'node:fs';
import { type ModelFile, readModels } from '../../functions/src/toolsets/orchestration/rules/agents/modelFile.ts';
import { root } from '../project.mjs';
import { modelsFile } from '../setup/models.mjs';

export interface DeclaredModels {
  /** Name of the file in the folder `functions`. */
  readonly file: string;
  /** The content; undefined if the file is invalid. */
  readonly models?: ModelFile;
  /** One line for the file, and one for each fault; undefined if the file is valid. */
  readonly faults?: string;
}

/** @param folder folder that contains the files; the default is used if it contains none */
export function declaredModels(project: string | undefined, folder = `${root}/functions`): DeclaredModels {
  const file = modelsFile(project, folder);
  const path = [`${folder}/${file}`, `${root}/functions/${file}`].find((one) => existsSync(one)) ?? '';
  try {
    return { file, models: readModels(JSON.parse(readFileSync(path, 'utf8')), file) };
  } catch (error) {
    return {
      file,
      faults: error instanceof SyntaxError ? `${file} is not JSON.` : String(error).replace('Error: ', ''),
    };
  }
}

export function usesVertex({ models }: DeclaredModels): boolean {
  return Object.values(models?.providers ?? {}).some(({ api }) => api === 'vertex');
}
