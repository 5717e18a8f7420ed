export function pureTestsIn(places: readonly string[]): string[]
