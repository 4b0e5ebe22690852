// What an object holds under a name that a user gave: a parameter may be called `constructor`, which every object has.
export function own<T>(of: Record<string, T> | null | undefined, name: string): T | undefined {
  return of && Object.hasOwn(of, name) ? of[name] : undefined;
}
