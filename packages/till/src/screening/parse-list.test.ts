import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseList } from './parse-list.ts'

const listed = '0x8589427373d6d84e98730d7795d8f6f8731fda16'
const mixedCase = '0x8589427373D6D84E98730D7795D8f6f8731FDA16'
const addressesOf = (text: string) => {
  const parsed = parseList(text)
  return 'problem' in parsed ? parsed.problem : [...parsed.addresses]
}

test('one address a line, with comments and addresses of other chains', () => {
  const text = `# sanctions\n${mixedCase} # a mixer\r\n\n12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h\n`
  expect(addressesOf(text)).toEqual([listed])
})

test.each([
  [
    'CSV',
    `36216,"SINDICATO","individual","DPRK3",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"Digital Currency Address - XBT 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h; alt. Digital Currency Address - ETH ${mixedCase}; Secondary sanctions risk"\n`,
  ],
  [
    'XML',
    `<?xml version="1.0"?><sdnList><sdnEntry><idList><id><idType>Digital Currency Address - USDC</idType><idNumber>${listed}</idNumber></id></idList></sdnEntry></sdnList>\n`,
  ],
  [
    'advanced XML',
    `<Sanctions><FeatureType ID="345">Digital Currency Address - ETH</FeatureType><Feature FeatureTypeID="345"><VersionDetail>${listed}</VersionDetail></Feature></Sanctions>`,
  ],
])('the SDN list as OFAC publishes it: %s', (_, text) => {
  expect(addressesOf(text)).toEqual([listed])
})

test('what is cut off, broken or something else is a problem, and never an empty list', () => {
  expect(addressesOf('')).toBe('has no address of an EVM chain')
  expect(addressesOf('# nothing\n')).toBe('has no address of an EVM chain')
  expect(addressesOf(`${listed}\n${listed.slice(0, 30)}\n`)).toBe('line 2 is no address')
  expect(addressesOf('<html>not found</html>')).toBe('line 1 is no address')
  expect(addressesOf(`<sdnList><idType>Digital Currency Address - ETH</idType><idNumber>${listed}</idNumber>`)).toBe(
    'is cut off at its end',
  )
  expect(addressesOf(`Digital Currency Address - ETH ${listed.slice(0, 38)}`)).toContain('broken address')
})

test('any text gives addresses or a problem', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `Digital Currency Address${text}`),
      ),
      (text) => {
        const parsed = parseList(text)
        expect('problem' in parsed || parsed.addresses.size > 0).toBe(true)
      },
    ),
  )
})
