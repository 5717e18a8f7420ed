export function withoutShops(text: string, names: readonly string[]): string
