export const target: string
export function alarmAdvice(operations: string): string
