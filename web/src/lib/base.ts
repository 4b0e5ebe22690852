// Where the dashboard is served: "/", or "/sluice/" below the path of a proxy. The address of this file says it.
function folder(): string {
  try {
    return new URL('.', import.meta.url).pathname;
  } catch {
    return '/';
  }
}

export const BASE = folder();

// An address of the dashboard ("/e/e1") as the browser needs it, and back.
export const outward = (to: string) => BASE + to.slice(1);
export const inward = (pathname: string) => (pathname.startsWith(BASE) ? `/${pathname.slice(BASE.length)}` : pathname);
