// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {B20Access} from "./B20Access.sol";
import {B20Rules} from "./B20Rules.sol";
import {B20Storage} from "./B20Storage.sol";
import {B20PolicyRegistry} from "./B20PolicyRegistry.sol";

/// Stand-in of the native token code: the part all variants share. Calls it does not know go to the variant's part.
contract B20Token is B20Access {
    event Approval(address indexed owner, address indexed spender, uint256 amount);
    event BurnedBlocked(address indexed caller, address indexed from, uint256 amount);
    event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);
    event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender);
    event RoleAdminChanged(bytes32 indexed role, bytes32 indexed previousAdminRole, bytes32 indexed newAdminRole);
    event LastAdminRenounced(address indexed previousAdmin);
    event Paused(address indexed updater, uint8[] features);
    event Unpaused(address indexed updater, uint8[] features);
    event PolicyUpdated(bytes32 indexed policyScope, uint64 oldPolicyId, uint64 newPolicyId);
    event SupplyCapUpdated(address indexed updater, uint256 oldSupplyCap, uint256 newSupplyCap);
    event ContractURIUpdated();
    event NameUpdated(address indexed updater, string newName);
    event SymbolUpdated(address indexed updater, string newSymbol);
    event EIP712DomainChanged();
    event Seized(address indexed caller, address indexed from, address indexed to, uint256 amount);

    error Unauthorized();
    error InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
    error InvalidSender(address sender);
    error InvalidApprover(address approver);
    error InvalidSpender(address spender);
    error EmptyFeatureSet();
    error InvalidSupplyCap(uint256 currentSupply, uint256 proposedCap);
    error PolicyNotFound(uint64 policyId);
    error AccountNotBlocked(address account);
    error AccountNotSeizable(address account);
    error ExpiredSignature(uint256 deadline);
    error InvalidSigner(address signer, address owner);
    error LastAdminCannotRenounce();
    error NotSoleAdmin();
    error AccessControlBadConfirmation();

    bytes32 private constant BURN = keccak256("BURN_ROLE");
    bytes32 private constant BURN_BLOCKED = keccak256("BURN_BLOCKED_ROLE");
    bytes32 private constant SEIZE = keccak256("SEIZE_ROLE");
    bytes32 private constant PAUSE = keccak256("PAUSE_ROLE");
    bytes32 private constant UNPAUSE = keccak256("UNPAUSE_ROLE");
    bytes32 private constant PERMIT_TYPE =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    // --- creation, by the factory only ---

    modifier onlyFactory() {
        if (msg.sender != B20Rules.FACTORY) B20Rules.unknownCall();
        _;
    }

    function devnetOpen(string calldata name_, string calldata symbol_, uint8 decimals_, string calldata currency_)
        external
        onlyFactory
    {
        B20Storage.Token storage t = B20Storage.token();
        B20Rules.setLifecycle(1);
        t.name = name_;
        t.symbol = symbol_;
        t.supplyCap = type(uint128).max;
        if (B20Rules.variantOf(address(this)) == 1) B20Storage.stablecoin().currency = currency_;
        else B20Storage.asset().decimals = decimals_;
    }

    function devnetFirstAdmin(address admin) external onlyFactory {
        setRole(ADMIN, admin, true);
    }

    function devnetClose() external onlyFactory {
        B20Rules.setLifecycle(2);
    }

    // --- constants ---

    function DEFAULT_ADMIN_ROLE() external pure returns (bytes32) {
        return ADMIN;
    }

    function MINT_ROLE() external pure returns (bytes32) {
        return MINT;
    }

    function BURN_ROLE() external pure returns (bytes32) {
        return BURN;
    }

    function BURN_BLOCKED_ROLE() external pure returns (bytes32) {
        return BURN_BLOCKED;
    }

    function PAUSE_ROLE() external pure returns (bytes32) {
        return PAUSE;
    }

    function UNPAUSE_ROLE() external pure returns (bytes32) {
        return UNPAUSE;
    }

    function METADATA_ROLE() external pure returns (bytes32) {
        return METADATA;
    }

    function SEIZE_ROLE() external view returns (bytes32) {
        B20Rules.since(B20Rules.COBALT);
        return SEIZE;
    }

    function TRANSFER_SENDER_POLICY() external pure returns (bytes32) {
        return SENDER;
    }

    function TRANSFER_RECEIVER_POLICY() external pure returns (bytes32) {
        return RECEIVER;
    }

    function TRANSFER_EXECUTOR_POLICY() external pure returns (bytes32) {
        return EXECUTOR;
    }

    function MINT_RECEIVER_POLICY() external pure returns (bytes32) {
        return MINT_RECEIVER;
    }

    function SEIZE_EXEMPT_POLICY() external view returns (bytes32) {
        B20Rules.since(B20Rules.COBALT);
        return SEIZE_EXEMPT;
    }

    function SEIZE_RECEIVER_POLICY() external view returns (bytes32) {
        B20Rules.since(B20Rules.COBALT);
        return SEIZE_RECEIVER;
    }

    // --- reads ---

    function name() external view returns (string memory) {
        return B20Storage.token().name;
    }

    function symbol() external view returns (string memory) {
        return B20Storage.token().symbol;
    }

    function decimals() external view returns (uint8) {
        return B20Rules.variantOf(address(this)) == 1 ? 6 : B20Storage.asset().decimals;
    }

    function contractURI() external view returns (string memory) {
        return B20Storage.token().contractURI;
    }

    function totalSupply() external view returns (uint256) {
        return B20Storage.token().totalSupply;
    }

    function supplyCap() external view returns (uint256) {
        return B20Storage.token().supplyCap;
    }

    function balanceOf(address account) external view returns (uint256) {
        return B20Storage.token().balances[account];
    }

    function allowance(address owner, address spender) external view returns (uint256) {
        return B20Storage.token().allowances[owner][spender];
    }

    function nonces(address owner) external view returns (uint256) {
        return B20Storage.token().nonces[owner];
    }

    function hasRole(bytes32 role, address account) external view returns (bool) {
        return B20Storage.token().roles[role][account];
    }

    function getRoleAdmin(bytes32 role) public view returns (bytes32) {
        return B20Storage.token().roleAdmins[role];
    }

    function policyId(bytes32 policyScope) external view returns (uint64) {
        return boundPolicy(policyScope);
    }

    function isPaused(uint8 feature) external view returns (bool) {
        checkFeature(feature);
        return B20Storage.token().pausedFeatures >> feature & 1 == 1;
    }

    function pausedFeatures() external view returns (uint8[] memory features) {
        uint256 bits = B20Storage.token().pausedFeatures;
        uint256 count;
        for (uint8 i = 0; i <= PAUSE_SEIZE; i++) count += bits >> i & 1;
        features = new uint8[](count);
        for (uint8 i = PAUSE_SEIZE + 1; i > 0; i--) if (bits >> (i - 1) & 1 == 1) features[--count] = i - 1;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 nameHash = keccak256(bytes(B20Storage.token().name));
        return keccak256(abi.encode(DOMAIN_TYPE, nameHash, keccak256("1"), block.chainid, address(this)));
    }

    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (0x0f, B20Storage.token().name, "1", block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    // --- transfers ---

    function transfer(address to, uint256 amount) public returns (bool) {
        checkTransfer(msg.sender, to);
        checkExecutor(msg.sender);
        finishTransfer(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        checkTransfer(from, to);
        spend(from, amount);
        checkExecutor(from);
        finishTransfer(from, to, amount);
        return true;
    }

    function transferWithMemo(address to, uint256 amount, bytes32 memo) external returns (bool) {
        transfer(to, amount);
        emit Memo(msg.sender, memo);
        return true;
    }

    function transferFromWithMemo(address from, address to, uint256 amount, bytes32 memo) external returns (bool) {
        transferFrom(from, to, amount);
        emit Memo(msg.sender, memo);
        return true;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        if (msg.sender == address(0)) revert InvalidApprover(msg.sender);
        if (spender == address(0)) revert InvalidSpender(spender);
        setAllowance(msg.sender, spender, amount);
        return true;
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        if (block.timestamp > deadline) revert ExpiredSignature(deadline);
        uint256 nonce = B20Storage.token().nonces[owner]++;
        bytes32 content = keccak256(abi.encode(PERMIT_TYPE, owner, spender, value, nonce, deadline));
        address signer = ecrecover(keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), content)), v, r, s);
        if (signer == address(0) || signer != owner) revert InvalidSigner(signer, owner);
        setAllowance(owner, spender, value);
    }

    function checkTransfer(address from, address to) private view {
        checkNotPaused(PAUSE_TRANSFER);
        checkReceiver(to);
        if (from == address(0)) revert InvalidSender(from);
    }

    /// Before Denim the policy binds only those who move the tokens of others.
    function checkExecutor(address from) private view {
        bool bound = msg.sender != from || B20Rules.fork() >= B20Rules.DENIM;
        if (bound && !inCreation()) checkPolicy(EXECUTOR, msg.sender);
    }

    function finishTransfer(address from, address to, uint256 amount) private {
        if (!inCreation()) {
            checkPolicy(SENDER, from);
            checkPolicy(RECEIVER, to);
        }
        move(from, to, amount);
    }

    function spend(address from, uint256 amount) private {
        uint256 left = B20Storage.token().allowances[from][msg.sender];
        if (left == type(uint256).max) return;
        if (left < amount) revert InsufficientAllowance(msg.sender, left, amount);
        B20Storage.token().allowances[from][msg.sender] = left - amount;
    }

    function setAllowance(address owner, address spender, uint256 amount) private {
        B20Storage.token().allowances[owner][spender] = amount;
        emit Approval(owner, spender, amount);
    }

    // --- supply ---

    function mint(address to, uint256 amount) public {
        checkMay(PAUSE_MINT, MINT);
        mintTo(to, amount);
    }

    function mintWithMemo(address to, uint256 amount, bytes32 memo) external {
        mint(to, amount);
        emit Memo(msg.sender, memo);
    }

    function burn(uint256 amount) public {
        checkMay(PAUSE_BURN, BURN);
        move(msg.sender, address(0), amount);
    }

    function burnWithMemo(uint256 amount, bytes32 memo) external {
        burn(amount);
        emit Memo(msg.sender, memo);
    }

    function burnBlocked(address from, uint256 amount) external {
        checkMay(PAUSE_BURN, BURN_BLOCKED);
        if (authorized(SENDER, from)) revert AccountNotBlocked(from);
        move(from, address(0), amount);
        emit BurnedBlocked(msg.sender, from, amount);
    }

    function seizeWithMemo(address from, address to, uint256 amount, bytes32 memo) external {
        B20Rules.since(B20Rules.COBALT);
        checkMay(PAUSE_SEIZE, SEIZE);
        checkReceiver(to);
        if (from == address(0) && B20Rules.fork() >= B20Rules.DENIM) revert InvalidSender(from);
        if (to == from) revert InvalidReceiver(to);
        if (authorized(SEIZE_EXEMPT, from)) revert AccountNotSeizable(from);
        checkPolicy(SEIZE_RECEIVER, to);
        move(from, to, amount);
        emit Memo(msg.sender, memo);
        emit Seized(msg.sender, from, to, amount);
    }

    // --- roles ---

    function grantRole(bytes32 role, address account) external {
        // An adminless launch stays adminless: the issuer cannot slip an admin in through an init call.
        if (inCreation() && role == ADMIN && B20Storage.token().adminCount == 0) revert Unauthorized();
        checkRoleAdmin(role);
        setRole(role, account, true);
    }

    function revokeRole(bytes32 role, address account) external {
        checkRoleAdmin(role);
        dropRole(role, account);
    }

    function renounceRole(bytes32 role, address callerConfirmation) external {
        if (callerConfirmation != msg.sender) revert AccessControlBadConfirmation();
        dropRole(role, msg.sender);
    }

    function renounceLastAdmin() external {
        B20Storage.Token storage t = B20Storage.token();
        if (!t.roles[ADMIN][msg.sender]) revert AccessControlUnauthorizedAccount(msg.sender, ADMIN);
        if (t.adminCount != 1) revert NotSoleAdmin();
        setRole(ADMIN, msg.sender, false);
        emit LastAdminRenounced(msg.sender);
    }

    function setRoleAdmin(bytes32 role, bytes32 newAdminRole) external {
        checkRoleAdmin(role);
        emit RoleAdminChanged(role, getRoleAdmin(role), newAdminRole);
        B20Storage.token().roleAdmins[role] = newAdminRole;
    }

    function checkRoleAdmin(bytes32 role) private view {
        if (!inCreation() && B20Storage.token().adminCount == 0) {
            revert AccessControlUnauthorizedAccount(msg.sender, ADMIN);
        }
        checkRole(getRoleAdmin(role));
    }

    function dropRole(bytes32 role, address account) private {
        B20Storage.Token storage t = B20Storage.token();
        if (role == ADMIN && t.adminCount == 1 && t.roles[ADMIN][account]) revert LastAdminCannotRenounce();
        setRole(role, account, false);
    }

    function setRole(bytes32 role, address account, bool held) private {
        B20Storage.Token storage t = B20Storage.token();
        if (t.roles[role][account] == held) return;
        t.roles[role][account] = held;
        if (role == ADMIN) t.adminCount = held ? t.adminCount + 1 : t.adminCount - 1;
        if (held) emit RoleGranted(role, account, msg.sender);
        else emit RoleRevoked(role, account, msg.sender);
    }

    // --- pause, policies, cap, metadata ---

    function pause(uint8[] calldata features) external {
        uint256 bits = bitsOf(features);
        checkRole(PAUSE);
        if (features.length == 0) revert EmptyFeatureSet();
        B20Storage.token().pausedFeatures |= bits;
        emit Paused(msg.sender, features);
    }

    function unpause(uint8[] calldata features) external {
        uint256 bits = bitsOf(features);
        checkRole(UNPAUSE);
        if (features.length == 0) revert EmptyFeatureSet();
        B20Storage.token().pausedFeatures &= ~bits;
        emit Unpaused(msg.sender, features);
    }

    /// A feature that this fork does not know cannot be decoded, which is found out before anything else.
    function bitsOf(uint8[] calldata features) private view returns (uint256 bits) {
        for (uint256 i = 0; i < features.length; i++) {
            checkFeature(features[i]);
            bits |= 1 << features[i];
        }
    }

    function checkFeature(uint8 feature) private view {
        if (feature > PAUSE_SEIZE || (feature == PAUSE_SEIZE && B20Rules.fork() < B20Rules.COBALT)) {
            B20Rules.unknownCall();
        }
    }

    function updatePolicy(bytes32 policyScope, uint64 newPolicyId) external {
        checkRole(ADMIN);
        boundPolicy(policyScope);
        if (!B20PolicyRegistry(B20Rules.POLICIES).policyExists(newPolicyId)) revert PolicyNotFound(newPolicyId);
        emit PolicyUpdated(policyScope, bindPolicy(policyScope, newPolicyId), newPolicyId);
    }

    function updateSupplyCap(uint256 newSupplyCap) external {
        checkRole(ADMIN);
        B20Storage.Token storage t = B20Storage.token();
        if (newSupplyCap < t.totalSupply || newSupplyCap > type(uint128).max) {
            revert InvalidSupplyCap(t.totalSupply, newSupplyCap);
        }
        emit SupplyCapUpdated(msg.sender, t.supplyCap, newSupplyCap);
        t.supplyCap = newSupplyCap;
    }

    function updateName(string calldata newName) external {
        checkRole(METADATA);
        B20Storage.token().name = newName;
        emit NameUpdated(msg.sender, newName);
        emit EIP712DomainChanged();
    }

    function updateSymbol(string calldata newSymbol) external {
        checkRole(METADATA);
        B20Storage.token().symbol = newSymbol;
        emit SymbolUpdated(msg.sender, newSymbol);
    }

    function updateContractURI(string calldata newURI) external {
        checkRole(METADATA);
        B20Storage.token().contractURI = newURI;
        emit ContractURIUpdated();
    }

    // --- the variant's own part ---

    function currency() external view returns (string memory) {
        if (B20Rules.variantOf(address(this)) != 1) B20Rules.unknownCall();
        return B20Storage.stablecoin().currency;
    }

    fallback() external {
        if (B20Rules.variantOf(address(this)) == 1) B20Rules.unknownCall();
        address code = B20Rules.ASSET_CODE;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), code, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
