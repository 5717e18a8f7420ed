const parameter = /^\{[^{}]*\}$/

export const isParameter = (segment: string): boolean => parameter.test(segment)

export const pathSegments = (path: string): string[] => path.split('?')[0]?.split('/') ?? []

/** Whether a path is one that the template `/v1/report/{address}` stands for. */
export function fitsTemplate(template: readonly string[], path: readonly string[]): boolean {
  return (
    template.length === path.length &&
    template.every((part, place) => part === path[place] || (isParameter(part) && path[place] !== ''))
  )
}
