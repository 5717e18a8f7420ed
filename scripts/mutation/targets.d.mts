export const targets: readonly { name: string; mutate: readonly string[]; tests: readonly string[] }[]
