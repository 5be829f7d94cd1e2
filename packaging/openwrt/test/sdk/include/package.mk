# Stands in for include/package.mk: prepares, compiles and installs into DESTINATION. As there, recipes are expanded before
# they are read, so that their conditionals count.
PKG_BUILD_DIR = $(BUILD_DIR)/$(PKG_NAME)-$(PKG_VERSION)

define BuildPackage
all:
$(Build/Prepare)
$(Build/Compile)
$(call Package/$(1)/install,$(DESTINATION))
	@echo "$(PKG_NAME) $(PKG_VERSION): $(strip $(Package/$(1)/conffiles))"
endef
