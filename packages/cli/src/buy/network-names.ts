/** Networks as people call them, and their CAIP-2 names. */
export const networkNames: Readonly<Record<string, string>> = {
  base: 'eip155:8453',
  polygon: 'eip155:137',
  'base-sepolia': 'eip155:84532',
  'polygon-amoy': 'eip155:80002',
}
