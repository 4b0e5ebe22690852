// The YAML library, loaded with the form only: other pages do not wait for it. Nothing here works before `loadYaml`.
import type * as Yaml from 'yaml';

export let yaml: typeof Yaml;
let loading: Promise<typeof Yaml> | null = null;

// A file of its own beside app.js. The address is a variable, so that the bundler leaves it alone.
const AT = './yaml.js';

export async function loadYaml(): Promise<void> {
  loading ??= import(AT) as Promise<typeof Yaml>;
  try {
    yaml = await loading;
  } catch (error) {
    loading = null;
    throw error;
  }
}

export function useYaml(library: typeof Yaml) {
  yaml = library;
}
