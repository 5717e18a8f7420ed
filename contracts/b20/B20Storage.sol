// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// The storage of a token at the slots of the real chain, so that slot reads and proofs work alike.
library B20Storage {
    struct Token {
        string name;
        string symbol;
        string contractURI;
        uint256 totalSupply;
        mapping(address account => uint256) balances;
        mapping(address owner => mapping(address spender => uint256)) allowances;
        mapping(bytes32 role => mapping(address account => bool)) roles;
        mapping(bytes32 role => bytes32 adminRole) roleAdmins;
        uint256 adminCount;
        // sender, receiver, executor: 64 bits each
        uint256 transferPolicyIds;
        uint256 mintPolicyIds;
        uint256 pausedFeatures;
        uint256 supplyCap;
        mapping(address owner => uint256) nonces;
        // exempt, receiver
        uint256 seizePolicyIds;
    }

    struct Asset {
        uint8 decimals;
        uint256 multiplier;
        mapping(string id => bool) usedAnnouncementIds;
        mapping(string key => string) extraMetadata;
        // multiplier in the low 128 bits, effectiveAt in the next 64
        uint256 pending;
    }

    struct Stablecoin {
        string currency;
    }

    // ERC-7201 roots of "base.b20", "base.b20.asset" and "base.b20.stablecoin".
    bytes32 private constant TOKEN = 0xc78b71fee795ddd74aff64ea9b2474194c938c3196430e10bb5f01ed48434000;
    bytes32 private constant ASSET = 0xfdc6d4552d1286ade4d9facdbf0fb50d2ec9b89a90e104f26fd277585e374b00;
    bytes32 private constant STABLECOIN = 0x35827975a06ca0e9367ea3129b19441d45d0ca58e30b7693f09e73d0943d6200;

    function token() internal pure returns (Token storage at) {
        assembly {
            at.slot := TOKEN
        }
    }

    function asset() internal pure returns (Asset storage at) {
        assembly {
            at.slot := ASSET
        }
    }

    function stablecoin() internal pure returns (Stablecoin storage at) {
        assembly {
            at.slot := STABLECOIN
        }
    }
}
