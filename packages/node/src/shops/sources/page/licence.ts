export type LicenceFinding = {
  kind: 'rsl' | 'creative_commons' | 'spdx' | 'custom'
  /** Where it was read: header, link element, robots.txt, JSON-LD. */
  via: 'robots' | 'link_header' | 'link_element' | 'json_ld' | 'feed'
  url: string
  /** A short name such as `CC-BY-4.0`, where the address tells it. */
  name: string | undefined
}

const creativeCommons =
  /^https?:\/\/(?:www\.)?creativecommons\.org\/(licenses|publicdomain)\/([a-z-]{2,20})\/(\d\.\d)(?:\/[a-z]{2,8})?\/?(?:deed\.[a-z-]{2,8}|legalcode)?\/?$/i
const spdx =
  /^https?:\/\/(?:www\.)?(?:spdx\.org\/licenses|opensource\.org\/licenses?)\/([A-Za-z0-9.+-]{2,40}?)(?:\.html)?\/?$/

/** What kind of licence an address names. The address is the evidence; nothing is fetched here. */
export function readLicence(url: string, via: LicenceFinding['via'], rsl: boolean): LicenceFinding | undefined {
  if (!URL.canParse(url)) return undefined
  const [, section, code, version] = creativeCommons.exec(url) ?? []
  if (code !== undefined)
    return {
      kind: 'creative_commons',
      via,
      url,
      name:
        section === 'publicdomain'
          ? code === 'zero'
            ? `CC0-${version}`
            : 'PDM-1.0'
          : `CC-${code.toUpperCase()}-${version}`,
    }
  const [, identifier] = spdx.exec(url) ?? []
  if (identifier !== undefined) return { kind: 'spdx', via, url, name: identifier }
  return { kind: rsl ? 'rsl' : 'custom', via, url, name: undefined }
}

const letsWholeBeSold = /^(?:CC0|PDM|CC-BY|CC-BY-SA)-\d/

/** Whether the whole text may be given to others for money: by a licence that says so, and no other beside it. */
export function maySellWhole(findings: readonly LicenceFinding[]): boolean {
  const names = findings.map(({ name }) => name)
  return names.length > 0 && names.every((name) => name !== undefined && letsWholeBeSold.test(name))
}

/** Two findings contradict each other when they name different licences of the kinds that can be compared. */
export function contradictions(findings: readonly LicenceFinding[]): string[] {
  const names = [...new Set(findings.map((finding) => finding.name).filter((name) => name !== undefined))]
  return names.length > 1 ? names : []
}
